import Foundation
import LocalFiles
import SnapshotModels

@testable import UsagePusher

/// A home with plug-ins in it, which runs them as `usage-push` does, with short times.
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

    func enable(_ name: String, interval: Int = 300) throws {
        environment.plugins[name] = try PluginFile(name, in: environment)
            .enabled(timeout: 10, interval: interval)
    }

    func run(
        seconds: Double = 60, memoryByteCount: Int = 1_073_741_824,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        var limits = BoundedProcess.Limits()
        limits.seconds = seconds
        limits.graceSeconds = 0.1
        limits.memoryByteCount = memoryByteCount
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
    func outcome(of lines: String, seconds: Double = 60) throws -> String {
        try script("plugin", lines)
        try enable("plugin")
        run(seconds: seconds)
        return detail("plugin")
    }
}

/// A pipe with a name: whoever has opened it for writing is still there until it is closed.
final class Presence {
    let path: String
    private let descriptor: Int32

    init(_ path: String) {
        self.path = path
        mkfifo(path, 0o600)
        descriptor = open(path, O_RDONLY | O_NONBLOCK)
    }

    deinit { close(descriptor) }

    /// Waits until there has been a writer and nobody has the pipe open any more.
    func waitForEnd() {
        var slot = pollfd(fd: descriptor, events: 0, revents: 0)
        while poll(&slot, 1, -1) == -1, errno == EINTR {}
    }
}
