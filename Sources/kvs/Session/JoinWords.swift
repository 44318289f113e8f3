import KVStoreHTTP
import TerminalText

/// What `join` and `leave` say; lines for a terminal, escaped.
enum JoinWords {
    static func joined(_ credentials: Credentials, scopes: [String]) -> String {
        let may = scopes.isEmpty ? "" : ", which may: " + scopes.joined(separator: ", ")
        return VisibleText.escape(
            "joined account \(credentials.account) at \(credentials.daemon) as device "
                + "\(credentials.deviceName) (\(credentials.deviceID))\(may)")
    }

    static func lines(_ adoption: LocalReplicaAdoption) -> [String] {
        var lines: [String] = []
        if !adoption.moved.isEmpty {
            lines.append(
                "local values of \(stores(adoption.moved)) are part of the account now; where it "
                    + "has the key, its value stays")
        }
        if !adoption.kept.isEmpty {
            lines.append(
                "local values of \(stores(adoption.kept)) stay apart, since this machine has been "
                    + "in the account before; kvs leave shows them again")
        }
        for (name, reason) in adoption.failed.sorted(by: { $0.key < $1.key }) {
            lines.append("local values of store \(name) could not be taken along: \(reason)")
        }
        return lines.map(VisibleText.escape)
    }

    private static func stores(_ names: [String]) -> String {
        (names.count == 1 ? "store " : "stores ") + names.joined(separator: ", ")
    }
}
