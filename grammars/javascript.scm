; What a JavaScript file defines, calls and imports.

(class_declaration name: (identifier) @name) @class
(class name: (identifier) @name) @class
(function_declaration name: (identifier) @name) @function
(generator_function_declaration name: (identifier) @name) @function
(method_definition name: [(property_identifier) (private_property_identifier)] @name) @method
(field_definition property: [(property_identifier) (private_property_identifier)] @name) @field
(variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @function
(variable_declarator name: (identifier) @name) @variable
(assignment_expression
  left: (member_expression property: (property_identifier) @name)
  right: [(arrow_function) (function_expression) (generator_function) (class)]) @function
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression) (generator_function)]) @method

(call_expression function: [(identifier) @call (member_expression property: (property_identifier) @call)])
(new_expression constructor: [(identifier) @call (member_expression property: (property_identifier) @call)])
((jsx_opening_element name: (identifier) @call) (#match? @call "^[A-Z]"))
((jsx_self_closing_element name: (identifier) @call) (#match? @call "^[A-Z]"))

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
