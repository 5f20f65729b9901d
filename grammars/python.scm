; What a Python file defines, calls and imports.

(class_definition name: (identifier) @name) @class
(function_definition name: (identifier) @name) @function
(type_alias_statement left: (type [(identifier) @name (generic_type (identifier) @name)])) @type
(assignment left: (identifier) @name) @variable
(assignment left: [(pattern_list (identifier) @name) (tuple_pattern (identifier) @name)]) @variable
(assignment left: [(pattern_list (list_splat_pattern (identifier) @name)) (tuple_pattern (list_splat_pattern (identifier) @name))]) @variable

(call function: [(identifier) @call (attribute attribute: (identifier) @call)])
(decorator [(identifier) @call (attribute attribute: (identifier) @call)])

(import_statement name: [(dotted_name) @module (aliased_import name: (dotted_name) @module)])
(import_from_statement
  module_name: [(dotted_name) (relative_import)] @module
  name: [(dotted_name) @imported (aliased_import name: (dotted_name) @imported)])
(import_from_statement module_name: [(dotted_name) (relative_import)] @module (wildcard_import))
