; What a Go file defines, calls and imports.

(package_clause (package_identifier) @name) @package
(function_declaration name: (identifier) @name) @function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @in
    (pointer_type (type_identifier) @in)
    (generic_type type: (type_identifier) @in)
    (pointer_type (generic_type type: (type_identifier) @in))
  ]))
  name: (field_identifier) @name) @method
(method_declaration name: (field_identifier) @name) @method
(type_spec name: (type_identifier) @name type: (struct_type)) @struct
(type_spec name: (type_identifier) @name type: (interface_type)) @interface
(type_spec name: (type_identifier) @name) @type
(type_alias name: (type_identifier) @name) @type
(method_elem name: (field_identifier) @name) @method
(field_declaration name: (field_identifier) @name) @field
(const_spec name: (identifier) @name) @constant
(var_spec name: (identifier) @name) @variable

(call_expression function: [(identifier) @call (selector_expression field: (field_identifier) @call)])
(composite_literal type: [(type_identifier) @call (qualified_type name: (type_identifier) @call)])

(import_spec path: (_) @module)
