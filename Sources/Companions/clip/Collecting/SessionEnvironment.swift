import Commands
import Essentials

/// The variables that lead to the display. A service of systemd starts before the session of its user, and gets them
/// neither then nor later: the service manager knows those that a desktop has imported.
enum SessionEnvironment {
    private static let names = ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR"]
    private static let byteLimit = 1 << 20

    /// Whether this program is a service of systemd.
    static func isService(_ environment: [String: String]) -> Bool { environment["INVOCATION_ID"] != nil }

    /// The environment, in a service with what the service manager knows at present.
    static func present(_ environment: [String: String]) -> [String: String] {
        guard isService(environment),
            let systemctl = SearchPath(environment).path(of: "systemctl")
        else { return environment }
        let run = BoundedProcess(
            clipboard: systemctl, ["--user", "show-environment"], environment: environment, outputByteCount: byteLimit)
        guard run.isSuccess else { return environment }
        // Those of a session that has ended lead nowhere.
        return environment.filter { !$0.key.hasSuffix("DISPLAY") }.merging(
            variables(String(decoding: run.output, as: UTF8.self))
        ) { $1 }
    }

    /// Those in the output of `systemctl show-environment` that need no quotes, as paths and numbers of displays do
    /// not.
    static func variables(_ text: String) -> [String: String] {
        var variables: [String: String] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, names.contains(String(parts[0])), !parts[1].hasPrefix("$'") else { continue }
            variables[String(parts[0])] = String(parts[1])
        }
        return variables
    }
}
