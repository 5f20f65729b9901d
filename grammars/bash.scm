; What a shell script defines, runs and sources.

(function_definition name: (word) @name) @function
(variable_assignment name: (variable_name) @name) @variable
((command
  name: (command_name (word) @_alias)
  argument: [(concatenation . (word) @name) (word) @name]) @alias
  (#eq? @_alias "alias")
  (#match? @name "^[A-Za-z_]"))

(command name: (command_name (word) @call))

(command
  name: (command_name (word) @_loader)
  argument: [(word) (string) (raw_string) (concatenation)] @module
  (#any-of? @_loader "source" "."))
