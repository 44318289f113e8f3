import KVStoreHTTP
import TerminalText

/// The output of `join`, escaped for a terminal.
enum JoinMessages {
    static func joined(_ credentials: Credentials, scopes: [String]) -> String {
        let scopes = scopes.isEmpty ? "" : ", allowed to: " + scopes.joined(separator: ", ")
        return VisibleText.escape(
            "joined account \(credentials.account) at \(credentials.daemon) as device "
                + "\(credentials.deviceName) (\(credentials.deviceID))\(scopes)")
    }

    static func lines(_ adoption: LocalReplicaAdoption) -> [String] {
        var lines: [String] = []
        if !adoption.moved.isEmpty {
            lines.append(
                "local values of \(stores(adoption.moved)) are now part of the account; "
                    + "keys that it already has keep its values")
        }
        if !adoption.kept.isEmpty {
            lines.append(
                "local values of \(stores(adoption.kept)) stay separate, because this machine was in "
                    + "the account before; kvs leave shows them again")
        }
        for (name, reason) in adoption.failed.sorted(by: { $0.key < $1.key }) {
            lines.append("cannot move local values of store \(name) to the account: \(reason)")
        }
        return lines.map(VisibleText.escape)
    }

    private static func stores(_ names: [String]) -> String {
        (names.count == 1 ? "store " : "stores ") + names.joined(separator: ", ")
    }
}
