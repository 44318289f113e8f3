/// Where Claude Code keeps its files: one set of configuration directories, which know one account.
struct ClaudePaths {
    /// Names the set.
    var root: String { roots[0] }
    /// Configuration directories, the more specific first.
    let roots: [String]
    /// Files that may hold the account and the cached limits, in groups: a later group counts only
    /// when no file of an earlier one has either.
    let stateGroups: [[String]]

    /// `$CLAUDE_CONFIG_DIR` (also a list with commas, also with a trailing "projects"), else
    /// `$XDG_CONFIG_HOME/claude` and `~/.claude`; and the further homes.
    static func homes(in environment: SourceEnvironment) -> [ClaudePaths] {
        let own = ClaudePaths(environment)
        let further = environment.furtherHomes(of: "claude").filter { !own.roots.contains($0) }
        return [own] + further.map { ClaudePaths(roots: [$0], stateGroups: [states($0)]) }
    }

    private init(_ environment: SourceEnvironment) {
        let home = environment.home
        let usual = [environment.configurationHome + "/claude", home + "/.claude"]
        let given = (environment.variables["CLAUDE_CONFIG_DIR"] ?? "").split(separator: ",")
            .prefix(16).compactMap { environment.absolutePath(String($0)) }
            .map { $0.hasSuffix("/projects") ? String($0.dropLast("/projects".count)) : $0 }
        let homeStates = [home + "/.claude.json"]
        if given.isEmpty {
            self.init(roots: usual, stateGroups: [homeStates + usual.flatMap(Self.states)])
        } else {
            self.init(roots: given, stateGroups: [given.flatMap(Self.states), homeStates])
        }
    }

    private init(roots: [String], stateGroups: [[String]]) {
        self.roots = roots
        self.stateGroups = stateGroups
    }

    private static func states(_ root: String) -> [String] {
        [root + "/.claude.json", root + "/.config.json"]
    }

    var projects: [String] { roots.map { $0 + "/projects" } }
    var credentials: [String] { roots.map { $0 + "/.credentials.json" } }
}
