public import Foundation

/// Where replicas are kept when an app does not say.
public enum StoreDirectories {
    /// `UBIQUITY_DATA_DIR`, else `ubiquity` in `XDG_DATA_HOME`, else `~/.local/share/ubiquity`.
    public static func data(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String {
        if let directory = absolute(environment["UBIQUITY_DATA_DIR"]) { return directory }
        let base = absolute(environment["XDG_DATA_HOME"]) ?? home(environment) + "/.local/share"
        return base + "/ubiquity"
    }

    /// The replica of a store; `account` is a safe folder name, nil where none has been joined.
    public static func replica(
        account: String?, storeName: String,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String {
        "\(data(environment: environment))/replicas/\(account ?? "local")/\(storeName)"
    }

    static func home(_ environment: [String: String]) -> String {
        absolute(environment["HOME"]) ?? NSHomeDirectory()
    }

    /// The XDG rules ignore paths that are not absolute.
    private static func absolute(_ path: String?) -> String? {
        guard let path, path.hasPrefix("/") else { return nil }
        return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }
}
