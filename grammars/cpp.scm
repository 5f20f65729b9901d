; What a C++ file defines, calls and includes.

(function_definition declarator: (function_declarator declarator: (identifier) @name)) @function
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @function
(function_definition declarator: (pointer_declarator declarator: (pointer_declarator
  declarator: (function_declarator declarator: (identifier) @name)))) @function
(declaration declarator: (function_declarator declarator: (identifier) @name)) @declaration
(declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @name))) @declaration
(declaration declarator: (pointer_declarator declarator: (pointer_declarator
  declarator: (function_declarator declarator: (identifier) @name)))) @declaration

(struct_specifier name: (type_identifier) @name body: (_)) @struct
(union_specifier name: (type_identifier) @name body: (_)) @union
(enum_specifier name: (type_identifier) @name body: (_)) @enum
(enumerator name: (identifier) @name) @constant
(type_definition declarator: (type_identifier) @name) @type
(type_definition declarator: (pointer_declarator declarator: (type_identifier) @name)) @type
(type_definition declarator: (array_declarator declarator: (type_identifier) @name)) @type
(type_definition declarator: (function_declarator declarator: (parenthesized_declarator
  (pointer_declarator declarator: (type_identifier) @name)))) @type
(type_definition declarator: (function_declarator declarator: (type_identifier) @name)) @type
(field_declaration declarator: (field_identifier) @name) @field
(field_declaration declarator: (pointer_declarator declarator: (field_identifier) @name)) @field
(field_declaration declarator: (pointer_declarator declarator: (pointer_declarator declarator: (field_identifier) @name))) @field
(field_declaration declarator: (array_declarator declarator: (field_identifier) @name)) @field
(field_declaration declarator: (function_declarator declarator: (parenthesized_declarator
  (pointer_declarator declarator: (field_identifier) @name)))) @field

(preproc_def name: (identifier) @name) @macro
(preproc_function_def name: (identifier) @name) @macro
(declaration declarator: (identifier) @name) @variable
(declaration declarator: (function_declarator declarator: (parenthesized_declarator
  (pointer_declarator declarator: (identifier) @name)))) @variable
(declaration declarator: (init_declarator declarator: (function_declarator declarator: (parenthesized_declarator
  (pointer_declarator declarator: (identifier) @name))))) @variable
(declaration declarator: (init_declarator declarator: (identifier) @name)) @variable
(declaration declarator: (array_declarator declarator: (identifier) @name)) @variable
(declaration declarator: (init_declarator declarator: (array_declarator declarator: (identifier) @name))) @variable
(declaration declarator: (pointer_declarator declarator: (identifier) @name)) @variable
(declaration declarator: (init_declarator declarator: (pointer_declarator declarator: (identifier) @name))) @variable

(call_expression function: [(identifier) @call (field_expression field: (field_identifier) @call)])

(function_definition declarator: (reference_declarator (function_declarator declarator: (identifier) @name))) @function
(function_definition declarator: (function_declarator declarator: (template_function name: (identifier) @name))) @function
(function_definition declarator: (pointer_declarator declarator: (function_declarator
  declarator: (template_function name: (identifier) @name)))) @function
(function_definition declarator: (reference_declarator (function_declarator
  declarator: (template_function name: (identifier) @name)))) @function
(function_definition declarator: (function_declarator declarator: (qualified_identifier
  scope: (_) @in name: (template_function name: (identifier) @name)))) @method
(type_definition declarator: [(primitive_type) @name (reference_declarator (type_identifier) @name)]) @type
(function_definition declarator: (function_declarator
  declarator: [(field_identifier) (destructor_name) (operator_name)] @name)) @method
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name))) @method
(function_definition declarator: (reference_declarator (function_declarator
  declarator: [(field_identifier) (operator_name)] @name))) @method
(function_definition declarator: (function_declarator declarator: (qualified_identifier
  scope: (_) @in name: [(identifier) (destructor_name) (operator_name)] @name))) @method
(function_definition declarator: (pointer_declarator declarator: (function_declarator declarator: (qualified_identifier
  scope: (_) @in name: (identifier) @name)))) @method
(function_definition declarator: (reference_declarator (function_declarator declarator: (qualified_identifier
  scope: (_) @in name: [(identifier) (operator_name)] @name)))) @method
(function_definition declarator: (function_declarator declarator: (qualified_identifier
  name: (qualified_identifier scope: (_) @in name: [(identifier) (destructor_name) (operator_name)] @name)))) @method
(field_declaration declarator: (function_declarator declarator: [(field_identifier) (operator_name)] @name)) @declaration
(field_declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (field_identifier) @name))) @declaration
(field_declaration declarator: (reference_declarator (function_declarator
  declarator: [(field_identifier) (operator_name)] @name))) @declaration
(declaration declarator: (function_declarator declarator: (destructor_name) @name)) @declaration
(declaration declarator: (reference_declarator (function_declarator declarator: (identifier) @name))) @declaration
(field_declaration declarator: (reference_declarator (field_identifier) @name)) @field

(class_specifier name: [(type_identifier) @name (template_type name: (type_identifier) @name)] body: (_)) @class
(struct_specifier name: (template_type name: (type_identifier) @name) body: (_)) @struct
(class_specifier name: (qualified_identifier scope: (_) @in name: (type_identifier) @name) body: (_)) @class
(struct_specifier name: (qualified_identifier scope: (_) @in name: (type_identifier) @name) body: (_)) @struct
(namespace_definition name: [(namespace_identifier) @name (nested_namespace_specifier (namespace_identifier) @name)]) @namespace
(alias_declaration name: (type_identifier) @name) @type
(concept_definition name: (identifier) @name) @type

(call_expression function: [
  (qualified_identifier name: (identifier) @call)
  (qualified_identifier name: (qualified_identifier name: (identifier) @call))
  (template_function name: (identifier) @call)
])
(new_expression type: (type_identifier) @call)

(preproc_include path: [(string_literal) (system_lib_string)] @module)
