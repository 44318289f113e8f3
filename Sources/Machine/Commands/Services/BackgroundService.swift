// A program as a background service of its user: the unit of systemd or the agent of launchd,
// installing it, removing it and its state. Not here: what a service does, and system services,
// which packages install.

import Essentials
import LocalFiles
import TerminalText

/// A program of this product as a service of its user or of the system. Calls block and print what they have done.
package struct BackgroundService: Sendable {
    private let program: String
    private let scope: ServiceUnit.Scope
    private let home = UserDirectories().home
    private let installCommand: String
    private let statusCommand: String

    /// - Parameters:
    ///   - installCommand: by default `PROGRAM service install`.
    ///   - statusCommand: by default `PROGRAM service status`.
    package init(
        program: String, scope: ServiceUnit.Scope = .user, installCommand: String? = nil, statusCommand: String? = nil
    ) {
        self.program = program
        self.scope = scope
        let option = scope == .user ? "" : " --system"
        self.installCommand = installCommand ?? "\(program) service install\(option)"
        self.statusCommand = statusCommand ?? "\(program) service status\(option)"
    }

    private var manager: ServiceManager { ServiceManager(program: program, scope: scope) }
    private var file: LocalFile { manager.file(ProcessInfo.processInfo.environment, home: home) }

    /// The file as the service manager reads it.
    package func text(of unit: ServiceUnit) -> String { manager.text(unit) }

    /// Writes the unit, enables and starts it.
    ///
    /// - Parameter otherwise: what to do where there is no service manager.
    package func install(_ unit: ServiceUnit, otherwise: String) throws {
        try requirePermission()
        let text = manager.text(unit)
        let former = try Self.text(of: file)
        if let former { try requireOwn(former) }
        try CommandFailure.ending(.cannotCreate) { () throws(FileError) in
            try file.directory.create()
            try file.replace(with: Data(text.utf8), permissions: 0o644)
        }
        try Console.print("wrote " + shown(file))
        switch manager.start(file, isReplaced: former.map { $0 != text } ?? false) {
        case .started(let notes):
            try Console.print("started; to see how it is doing: \(statusCommand)")
            for note in notes { try Console.print(note) }
        case .unavailable(let reason):
            throw CommandFailure(.unavailable, "the service is not started: \(reason)\n\(otherwise)")
        case .failed(let reason): throw CommandFailure(.ioError, "cannot start the service: \(reason)")
        }
    }

    /// Stops the service and removes its unit; a package's is disabled, and stays.
    package func remove() throws {
        guard let text = try Self.text(of: file) else {
            guard let packaged = try packagedFile() else { return try Console.print("the service is not installed") }
            try requirePermission()
            let issue = try CommandFailure.ending(.ioError) { () throws(FileError) in try manager.remove(nil) }
            if let issue { throw CommandFailure(.ioError, "cannot stop the service: \(issue)") }
            return try Console.print("stopped and disabled; \(packaged.path) belongs to a package, and stays")
        }
        try requirePermission()
        try requireOwn(text)
        let issue = try CommandFailure.ending(.ioError) { () throws(FileError) in try manager.remove(file) }
        if let issue { Console.report("cannot stop the service: \(issue)") }
        try Console.print("removed " + shown(file))
    }

    package func report() throws(CommandFailure) -> ServiceReport {
        let installed = try Self.text(of: file) == nil ? packagedFile() : file
        var state = manager.state
        if installed == nil { state = ServiceState(isManaged: state.isManaged, description: "not installed") }
        return ServiceReport(
            unitFile: (installed ?? file).path, shownFile: shown(installed ?? file), isInstalled: installed != nil,
            isPackaged: installed != nil && installed != file, installation: installCommand, state: state)
    }

    private func shown(_ file: LocalFile) -> String {
        VisibleText.escape(UserDirectories.abbreviated(file.path, home: home))
    }

    private func packagedFile() throws(CommandFailure) -> LocalFile? {
        guard let file = manager.packagedFile, try Self.text(of: file) != nil else { return nil }
        return file
    }

    /// Nil without one.
    private static func text(of file: LocalFile) throws(CommandFailure) -> String? {
        try CommandFailure.ending(.ioError) { () throws(FileError) in
            try file.read(byteLimit: 1_048_576).map { String(decoding: $0.data, as: UTF8.self) }
        }
    }

    private func requirePermission() throws(CommandFailure) {
        guard scope == .user || geteuid() == 0 else {
            throw CommandFailure(.noPermission, "a service of the system needs root; run this with sudo")
        }
    }

    private func requireOwn(_ text: String) throws(CommandFailure) {
        guard text.contains(ServiceUnit.mark(of: program)) else {
            throw CommandFailure(
                .cannotCreate,
                "\(file.path) was not written by \(program); move it away and run this again")
        }
    }
}
