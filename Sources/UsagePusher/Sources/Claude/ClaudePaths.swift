/// Where Claude Code keeps its files.
struct ClaudePaths {
    /// Configuration directories, the more specific first.
    let roots: [String]
    /// Files that may hold the account and the cached limits, in groups: a later group counts only
    /// when no file of an earlier one has either.
    let stateGroups: [[String]]
    /// The directory of status line captures.
    let captures: String

    /// `$CLAUDE_CONFIG_DIR` (also a list with commas, also with a trailing "projects"), else
    /// `$XDG_CONFIG_HOME/claude` and `~/.claude`.
    init(_ environment: SourceEnvironment) {
        let home = environment.home
        let configuration = environment.absolutePath(variable: "XDG_CONFIG_HOME")
        let usual = [(configuration ?? home + "/.config") + "/claude", home + "/.claude"]
        let given = (environment.variables["CLAUDE_CONFIG_DIR"] ?? "").split(separator: ",")
            .prefix(16).compactMap { environment.absolutePath(String($0)) }
            .map { $0.hasSuffix("/projects") ? String($0.dropLast("/projects".count)) : $0 }
        roots = given.isEmpty ? usual : given
        let states = { (root: String) in [root + "/.claude.json", root + "/.config.json"] }
        let homeStates = [home + "/.claude.json"]
        stateGroups =
            given.isEmpty
            ? [homeStates + usual.flatMap(states)] : [given.flatMap(states), homeStates]
        captures = ClaudeStatuslineStore.directory(in: environment)
    }

    var projects: [String] { roots.map { $0 + "/projects" } }
    var credentials: [String] { roots.map { $0 + "/.credentials.json" } }
}
