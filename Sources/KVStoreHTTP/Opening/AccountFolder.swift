/// The folder that holds an account's replicas.
///
/// Two accounts never share one, and neither do accounts of one name at two daemons: what was written for
/// the one must not reach the other.
enum AccountFolder {
    /// `<account>@<host>_<port>` and the path in front of the daemon's own, if there is one.
    ///
    /// Lower-case letters, digits, `-` and `_`, and dots in a host, stand for themselves; every other byte
    /// is `%` and two digits. So no id is a path, hidden, or equal to another one on a file system that
    /// does not tell upper from lower case. It always holds an `@`, which `local` does not.
    static func name(_ credentials: Credentials) -> String {
        let daemon = credentials.daemon
        return safe(credentials.account) + "@" + safe(daemon.host, keepsDots: true)
            + "_\(daemon.port)" + safe(daemon.path)
    }

    private static func safe(_ text: String, keepsDots: Bool = false) -> String {
        text.utf8.reduce(into: "") { result, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: ".") where keepsDots: result += "."
            default:
                let digits = String(byte, radix: 16)
                result += digits.count == 1 ? "%0" + digits : "%" + digits
            }
        }
    }
}
