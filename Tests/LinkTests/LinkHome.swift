import Foundation
import TestSupport

/// A private home with a desktop of its own: nothing of this machine opens a link.
struct LinkHome {
    var home: TemporaryHome

    /// The directory of programs that come before those of the system.
    private static let programs = "programs"
    static let link = "airmail://message?mail=ann%40example.test&messageid=n1%40example.test"

    /// - Parameter openerStatus: the exit status of a fake `xdg-open`; nil for that of the system.
    init(openerStatus: Int32? = 0) throws {
        home = try TemporaryHome()
        home.variables = [
            "PATH": "\(home.path)/\(Self.programs):/usr/bin:/bin", "DISPLAY": ":99",
            "XDG_DATA_DIRS": home.path + "/system", "XDG_CONFIG_DIRS": home.path + "/xdg",
        ]
        try program("notify-send", "exit 1")
        if let openerStatus { try recorder("xdg-open", status: openerStatus) }
    }

    func remove() { home.remove() }

    static func with(openerStatus: Int32? = 0, _ body: (LinkHome) async throws -> Void) async throws {
        let home = try LinkHome(openerStatus: openerStatus)
        defer { home.remove() }
        try await body(home)
    }

    func run(_ arguments: String...) async throws -> TemporaryHome.Outcome { try await home.run("link", arguments) }

    /// A shell script in the search path.
    func program(_ name: String, _ script: String) throws {
        let path = try home.file("\(Self.programs)/\(name)", "#!/bin/sh\n\(script)\n")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }

    /// A program that notes its arguments, one per line; see `notes`.
    func recorder(_ name: String, status: Int32 = 0) throws {
        try program(name, "printf '%s\\n' \"$@\" >>\"$HOME/\(name).notes\"; echo noise; exit \(status)")
    }

    func notes(_ name: String) -> [String] {
        let text = try? String(contentsOfFile: "\(home.path)/\(name).notes", encoding: .utf8)
        return text?.split(separator: "\n").map(String.init) ?? []
    }

    /// An application that is the default for a scheme.
    func addApplication(_ name: String, scheme: String, exec: String = "true %u") throws {
        try home.file(
            ".local/share/applications/\(name).desktop",
            """
            [Desktop Entry]
            Type=Application
            Name=\(name)
            Exec=\(exec)
            MimeType=x-scheme-handler/\(scheme);

            """)
        let former = try? String(contentsOfFile: associations, encoding: .utf8)
        try home.file(
            ".config/mimeapps.list",
            (former ?? "[Default Applications]\n") + "x-scheme-handler/\(scheme)=\(name).desktop\n")
    }

    var associations: String { home.path + "/.config/mimeapps.list" }

    /// Every file below the home, with its content.
    func files() throws -> [String: String] {
        var files: [String: String] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: home.path) {
            guard let data = FileManager.default.contents(atPath: "\(home.path)/\(name)") else { continue }
            files[name] = String(decoding: data, as: UTF8.self)
        }
        return files
    }

    static func isOnThisMachine(_ programs: String...) -> Bool {
        programs.allSatisfy { FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)") }
    }
}
