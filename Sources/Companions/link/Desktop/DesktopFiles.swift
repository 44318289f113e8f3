import Essentials
import LocalFiles

/// Which application opens URLs of a scheme, read from the files in which desktops keep it (freedesktop.org,
/// Association between MIME types and applications 1.0). Takes no tool, and so about a millisecond.
struct DesktopFiles {
    private let variables = ProcessInfo.processInfo.environment
    private let home = UserDirectories().home

    private static let byteLimit = 4 * 1_024 * 1_024

    /// An application by the name of its desktop entry.
    struct Application: Equatable {
        var id: String
        var name: String?
        /// The path or name of its program.
        var program: String?
    }

    /// The application that opens URLs of the scheme: the default one, else any that says that it does.
    func application(forScheme scheme: String) -> Application? {
        let type = DesktopEntry.type(ofScheme: scheme)
        for group in ["Default Applications", "Added Associations"] {
            if let found = first(type, group: group, in: associations) { return found }
        }
        return first(type, group: "MIME Cache", in: applicationDirectories.map { $0 + "/mimeinfo.cache" })
    }

    func application(withID id: String) -> Application? {
        // Only a name; "a/b.desktop" has the id "a-b.desktop".
        guard !id.contains("/"), id.hasSuffix(".desktop") else { return nil }
        for directory in applicationDirectories {
            for name in [id, id.replacing("-", with: "/", maxReplacements: 1)] {
                if let text = text(directory + "/" + name) {
                    return Application(
                        id: id, name: DesktopEntry.name(in: text), program: DesktopEntry.program(in: text))
                }
            }
        }
        return nil
    }

    /// Where the entries of this user are.
    var ownDirectory: String { applicationDirectories[0] }

    /// The files of this user that name applications, most important first.
    var ownAssociations: [String] { [configuration, applicationDirectories[0]].map { $0 + "/mimeapps.list" } }

    private func first(_ type: String, group: String, in files: [String]) -> Application? {
        for file in files {
            guard let text = text(file) else { continue }
            for list in KeyFile(text).values(of: type, inGroup: group) {
                for id in list.split(separator: ";") {
                    if let found = application(withID: String(id).trimmed()) { return found }
                }
            }
        }
        return nil
    }

    private var configuration: String { path("XDG_CONFIG_HOME") ?? home + "/.config" }

    private var applicationDirectories: [String] {
        ([path("XDG_DATA_HOME") ?? home + "/.local/share"]
            + paths("XDG_DATA_DIRS", otherwise: "/usr/local/share:/usr/share")).map { $0 + "/applications" }
    }

    private var associations: [String] {
        let desktops = (variables["XDG_CURRENT_DESKTOP"] ?? "").lowercased().split(separator: ":")
            .filter { !$0.contains("/") }.map { $0 + "-" }
        let directories = [configuration] + paths("XDG_CONFIG_DIRS", otherwise: "/etc/xdg") + applicationDirectories
        return directories.flatMap { directory in (desktops + [""]).map { directory + "/" + $0 + "mimeapps.list" } }
    }

    private func path(_ variable: String) -> String? {
        variables[variable].flatMap { $0.hasPrefix("/") ? $0 : nil }
    }

    private func paths(_ variable: String, otherwise: String) -> [String] {
        let value = variables[variable].flatMap { $0.isEmpty ? nil : $0 } ?? otherwise
        return value.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
    }

    private func text(_ path: String) -> String? {
        (try? LocalFile(path).read(byteLimit: Self.byteLimit)).flatMap(\.self)  // Desktops pass over these too.
            .map { String(decoding: $0.data, as: UTF8.self) }
    }
}
