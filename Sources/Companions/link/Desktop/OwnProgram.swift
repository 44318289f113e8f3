import Commands
import Essentials
import LocalFiles

/// This program as others start it.
enum OwnProgram {
    static var path: String { ProgramLocation.current(name: ProgramName.text).path }

    /// Whether a path, or a name in the search path, leads to a program.
    static func isExecutable(_ program: String) -> Bool {
        program.contains("/") ? access(program, X_OK) == 0 : SearchPath().path(of: program) != nil
    }

    /// Whether a path, or a name in the search path, leads to this program.
    static func isSame(_ program: String) -> Bool {
        let found = program.contains("/") ? program : SearchPath().path(of: program)
        guard let found, let status = try? FileStatus(path: found),  // What cannot be looked at is not this program.
            let own = try? FileStatus(path: path)
        else { return false }
        return status.identity == own.identity
    }

    static func opens(_ application: DesktopFiles.Application) -> Bool {
        application.id == DesktopEntry.identifier || application.program.map(isSame) ?? false
    }
}
