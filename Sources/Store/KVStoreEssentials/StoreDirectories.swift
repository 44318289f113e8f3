public import Essentials
import LocalFiles

/// Where replicas are kept when an app does not say.
///
/// ```swift
/// let directory = StoreDirectories.replica(account: nil, storeName: "notes")
/// ```
public enum StoreDirectories {
    /// `UBIQUITY_DATA_DIR`, else `ubiquity` in `XDG_DATA_HOME`, else `~/.local/share/ubiquity`.
    public static func data(environment: [String: String] = ProcessInfo.processInfo.environment) -> String {
        UserDirectories(environment: environment).data
    }

    /// A store's replica. `account` is a safe directory name; nil stands for no account.
    public static func replica(
        account: String?, storeName: String,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> String {
        "\(data(environment: environment))/replicas/\(account ?? "local")/\(storeName)"
    }
}
