; What a Rust file defines, calls and imports.

(function_item name: (identifier) @name) @function
(function_signature_item name: (identifier) @name) @function
(struct_item name: (type_identifier) @name) @struct
(enum_item name: (type_identifier) @name) @enum
(union_item name: (type_identifier) @name) @union
(trait_item name: (type_identifier) @name) @trait
(type_item name: (type_identifier) @name) @type
(associated_type name: (type_identifier) @name) @type
(mod_item name: (identifier) @name) @module
(const_item name: (identifier) @name) @constant
(static_item name: (identifier) @name) @static
(macro_definition name: (identifier) @name) @macro
(enum_variant name: (identifier) @name) @constant
(field_declaration name: (field_identifier) @name) @field
(impl_item type: [(type_identifier) @name (generic_type type: (type_identifier) @name)]) @impl

(call_expression function: [
  (identifier) @call
  (scoped_identifier name: (identifier) @call)
  (field_expression field: (field_identifier) @call)
  (generic_function function: [
    (identifier) @call
    (scoped_identifier name: (identifier) @call)
    (field_expression field: (field_identifier) @call)
  ])
])
(macro_invocation macro: [(identifier) @call (scoped_identifier name: (identifier) @call)])
; what a macro is given is not parsed: a name before a parenthesis, up to three of them deep
((macro_invocation (token_tree (identifier) @call . (token_tree) @_given)) (#match? @_given "^[(]"))
((macro_invocation (token_tree (token_tree (identifier) @call . (token_tree) @_given))) (#match? @_given "^[(]"))
((macro_invocation (token_tree (token_tree (token_tree (identifier) @call . (token_tree) @_given)))) (#match? @_given "^[(]"))
(struct_expression name: [(type_identifier) @call (scoped_type_identifier name: (type_identifier) @call)])

(use_declaration argument: (_) @module)
