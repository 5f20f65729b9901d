; What a TypeScript file defines, calls and imports.

(class_declaration name: (type_identifier) @name) @class
(abstract_class_declaration name: (type_identifier) @name) @class
(class name: (type_identifier) @name) @class
(interface_declaration name: (type_identifier) @name) @interface
(type_alias_declaration name: (type_identifier) @name) @type
(enum_declaration name: (identifier) @name) @enum
(enum_body (property_identifier) @name @constant)
(enum_assignment name: (property_identifier) @name) @constant
(internal_module name: [(identifier) @name (nested_identifier [(identifier) (property_identifier)] @name)]) @namespace
(module name: (identifier) @name) @namespace
(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(function_signature name: (identifier) @name) @function
(method_definition name: [(property_identifier) (private_property_identifier)] @name) @method
(method_signature name: (property_identifier) @name) @method
(abstract_method_signature name: (property_identifier) @name) @method
(public_field_definition name: [(property_identifier) (private_property_identifier)] @name) @field
(property_signature name: (property_identifier) @name) @field
(class_declaration name: (_) @in body: (class_body (method_definition parameters: (formal_parameters
  [(required_parameter (accessibility_modifier) pattern: (identifier) @name)
   (required_parameter "readonly" pattern: (identifier) @name)
   (optional_parameter (accessibility_modifier) pattern: (identifier) @name)] @field))))
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @function
(variable_declarator name: (identifier) @name) @variable
(assignment_expression
  left: (member_expression property: (property_identifier) @name)
  right: [(arrow_function) (function_expression) (generator_function) (class)]) @function
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @method

(call_expression function: [(identifier) @call (member_expression property: (property_identifier) @call)])
(new_expression constructor: [(identifier) @call (member_expression property: (property_identifier) @call)])

(import_statement
  (import_clause (named_imports (import_specifier name: (identifier) @imported)))
  source: (string (string_fragment) @module))
(import_statement (import_clause (identifier) @imported) source: (string (string_fragment) @module))
(import_statement source: (string (string_fragment) @module))
(export_statement source: (string (string_fragment) @module))
(call_expression
  function: [(identifier) (import)] @_loader
  arguments: (arguments . (string (string_fragment) @module))
  (#any-of? @_loader "require" "import"))
