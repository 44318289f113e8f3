import Essentials
import KVStoreWire

extension JSONEncoder.DateEncodingStrategy {
    /// ISO 8601 in UTC, with milliseconds if there are any.
    static var exact: Self { .custom { try DateFormat.text($0).encode(to: $1) } }
}
