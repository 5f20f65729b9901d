; What a Ruby file defines, calls and requires.

(class name: [(constant) @name (scope_resolution name: (constant) @name)]) @class
(module name: [(constant) @name (scope_resolution name: (constant) @name)]) @module
(method name: (_) @name) @function
(singleton_method name: (_) @name) @function
(alias name: (_) @name) @function
(assignment left: [(constant) @name (scope_resolution name: (constant) @name)]) @constant
(assignment left: (left_assignment_list (constant) @name)) @constant
(operator_assignment left: (constant) @name) @constant
(assignment left: (global_variable) @name) @variable
(call
  method: (identifier) @_attribute
  arguments: (argument_list (simple_symbol) @name)
  (#match? @_attribute "^attr_")) @field

(call
  method: (identifier) @_alias
  arguments: (argument_list . (simple_symbol) @name)
  (#any-of? @_alias "alias_method" "define_method" "alias_attribute")) @function

(call method: [(identifier) (constant)] @call)

(call
  method: (identifier) @_loader
  arguments: (argument_list (string (string_content) @module))
  (#any-of? @_loader "require" "require_relative" "load"))
