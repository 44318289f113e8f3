import Essentials

/// Where the variable `PATH` of an environment leads to.
struct SearchPath {
    private let directories: [String]

    init(_ environment: [String: String]) {
        directories = (environment["PATH"] ?? "").split(separator: ":").filter {
            $0.hasPrefix("/")
        }.map(String.init)
    }

    /// Nil without such a program.
    func path(of program: String) -> String? {
        directories.lazy.map { "\($0)/\(program)" }.first { access($0, X_OK) == 0 }
    }
}
