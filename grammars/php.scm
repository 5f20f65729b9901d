; What a PHP file defines, calls and uses.

(namespace_definition name: (namespace_name) @name) @package
(class_declaration name: (name) @name) @class
(interface_declaration name: (name) @name) @interface
(trait_declaration name: (name) @name) @trait
(enum_declaration name: (name) @name) @enum
(enum_case name: (name) @name) @constant
(function_definition name: (name) @name) @function
(method_declaration name: (name) @name) @method
(const_declaration (const_element (name) @name)) @constant
(function_call_expression
  function: (name) @_define
  arguments: (arguments . (argument (string (string_content) @name)))
  (#eq? @_define "define")) @constant
(property_declaration (property_element (variable_name (name) @name))) @field
(property_promotion_parameter name: (variable_name (name) @name)) @property

(function_call_expression function: [(name) @call (qualified_name (name) @call)])
(member_call_expression name: (name) @call)
(nullsafe_member_call_expression name: (name) @call)
(scoped_call_expression name: (name) @call)
(object_creation_expression [(name) @call (qualified_name (name) @call)])

(namespace_use_clause [(qualified_name) (name)] @module)
(include_expression (string (string_content) @module))
(include_once_expression (string (string_content) @module))
(require_expression (string (string_content) @module))
(require_once_expression (string (string_content) @module))
(require_once_expression (binary_expression (string (string_content) @module)))
