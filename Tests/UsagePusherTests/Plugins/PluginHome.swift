import Foundation
import LocalFiles
import SnapshotModels

@testable import UsagePusher

/// A home with plug-ins in it, which runs them as `usage-push` does.
final class PluginHome {
    let home: SampleHome
    private(set) var environment: SourceEnvironment

    static let document = """
        {"provider":"zai","usage":{"primary":{"usedPercent":12,"windowMinutes":300}}}
        """

    init() throws {
        home = try SampleHome()
        environment = home.environment(["PATH": "/usr/bin:/bin", "API_TOKEN": "hidden"])
    }

    func path(_ name: String) -> String { home.path(".config/ubiquity/providers.d/" + name) }

    /// Writes a script with mode 0755 and returns its path.
    @discardableResult
    func script(_ name: String, _ lines: String) throws -> String {
        let path = try home.write(".config/ubiquity/providers.d/" + name, "#!/bin/sh\n" + lines)
        chmod(home.path(".config/ubiquity/providers.d"), 0o755)
        chmod(path, 0o755)
        return path
    }

    func enable(_ name: String, timeout: Int = 60) throws {
        environment.plugins[name] = try PluginFile(name, in: environment).enabled(timeout: timeout, interval: 300)
    }

    /// - Parameter limits: nil for the usual ones.
    func run(
        _ limits: ProgramLimits? = nil,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        PluginRuns(environment, limits: limits).runDue(isCancelled: isCancelled)
    }

    func reading() -> SourceReading {
        var source = PluginsSource()
        return source.read(in: environment, at: Date())
    }

    /// What `sources` says of a plug-in.
    func detail(_ name: String) -> String {
        reading().findings.first { $0.path == path(name) }?.detail ?? "no finding"
    }

    /// Writes a script that is enabled, and runs it once.
    func outcome(of lines: String, timeout: Int = 60) throws -> String {
        try script("plugin", lines)
        try enable("plugin", timeout: timeout)
        run()
        return detail("plugin")
    }
}

/// A pipe with a name: a process that has opened it for writing, or has inherited it, has not ended while it is open.
final class Presence {
    let path: String
    private let descriptor: Int32
    /// Without any writer the end could not be told from the beginning.
    private let firstWriter: Int32

    init(_ path: String) {
        self.path = path
        mkfifo(path, 0o600)
        descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        firstWriter = open(path, O_WRONLY | O_CLOEXEC)
    }

    deinit { close(descriptor) }

    /// Waits until no process has the pipe open for writing. Once.
    func waitForEnd() {
        close(firstWriter)
        var slot = pollfd(fd: descriptor, events: 0, revents: 0)
        while poll(&slot, 1, -1) == -1, errno == EINTR {}
    }
}
