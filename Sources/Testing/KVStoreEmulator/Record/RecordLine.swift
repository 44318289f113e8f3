import Essentials
import KVStoreSimulation
import KVStoreWire

/// A line of a record: what came into the emulator, or what came of it. Inputs have the time of this machine's clock.
struct RecordLine: Codable {
    struct Arrival: Codable {
        var time: Int64
        /// Absent for requests to the administration.
        var world: String?
        var device: String?
        var method: String
        var target: String
        var type: String?
        var accept: String?
        /// The account that the request is for.
        var account: String?
        /// For a stream's request: `Last-Event-ID`.
        var lastEventID: String?
        var body: String?
        /// A body that is not text.
        var base64: Data?
    }

    /// A message of the live stream of a device is sent.
    struct Sending: Codable {
        var time: Int64
        var world: String
        var device: String
        /// The world's time of the event before it, if that has not arrived yet.
        var notBefore: Int64?
    }

    /// The time of messages or faults of a world has come.
    struct Release: Codable {
        var time: Int64
        var world: String
    }

    struct Answer: Codable {
        var status: Int
        var body: String?
        var base64: Data?
    }

    /// In the first line.
    var record: RecordStart?
    /// The number of the request.
    var n: Int?
    var arrives: Arrival?
    var sends: Sending?
    var releases: Release?
    var answers: Answer?

    /// Whether replaying it does something.
    var isInput: Bool { arrives != nil || sends != nil || releases != nil }
}
