import ArgumentParser
import Essentials
import LocalFiles

/// A clipboard manager whose history can be imported.
enum ImportTool: String, CaseIterable, ExpressibleByArgument, Sendable {
    case cliphist, clipse, copyq, maccy

    /// Where it keeps its history unless it is configured otherwise, the likeliest first.
    func usualPaths(_ variables: [String: String] = ProcessInfo.processInfo.environment) -> [String] {
        let home = UserDirectories(environment: variables).home
        func directory(_ variable: String, _ usual: String) -> String {
            variables[variable].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home + usual
        }
        let config = directory("XDG_CONFIG_HOME", "/.config")
        let support = home + "/Library/Application Support"
        return switch self {
        // os.UserCacheDir and os.UserConfigDir of Go, which cliphist.go and config/config.go of clipse use.
        case .cliphist: [directory("XDG_CACHE_HOME", "/.cache") + "/cliphist/db"]
        case .clipse:
            [config, support].map { $0 + "/clipse/clipboard_history.json" }
        // The name of the tab in base64: `itemFileName` in src/item/itemstore.cpp of CopyQ.
        case .copyq: [config + "/copyq/copyq_tab_JmNsaXBib2FyZA==.dat"]
        // In the sandbox, and without it (`defaultURL` in Maccy/Storage.swift).
        case .maccy:
            [home + "/Library/Containers/org.p0deje.Maccy/Data/Library/Application Support", support]
                .map { $0 + "/Maccy/Storage.sqlite" }
        }
    }

    /// The first of the usual paths at which there is something.
    func usualPath() throws -> String {
        let paths = usualPaths()
        // The error names all.
        if let path = paths.first(where: { (try? FileStatus(path: $0)) != nil }) { return path }
        throw ImportError(
            path: "the history of \(rawValue)", reason: "no file at \(paths.joined(separator: " or ")); pass its path",
            exitStatus: .noInput)
    }

    /// - Throws: `ImportError`.
    func read(_ path: String) throws -> ImportedItems {
        do {
            switch self {
            case .cliphist: return try CliphistDatabase.read(path)
            case .clipse: return try ClipseHistory.read(path)
            case .copyq: return try CopyQHistory.read(path)
            case .maccy: return try MaccyDatabase.read(path)
            }
        } catch let error as FileError {
            throw ImportError(
                path: path, reason: "\(error.message); pass a file that can be read",
                exitStatus: error.isPermissionDenied ? .noPermission : .ioError)
        }
    }

}
