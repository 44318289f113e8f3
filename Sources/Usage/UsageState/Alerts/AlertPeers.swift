import Essentials

/// The other machines that warn, and which of them still do.
///
/// One is alive as long as its notice or its snapshot changes; when, is measured here, because clocks differ.
struct AlertPeers: Sendable, Equatable {
    private struct Peer: Sendable, Equatable {
        var watches: Bool
        /// The notice's heartbeat and the time of the latest push.
        var sign: [Int]
        /// When the sign last changed, in seconds of uptime.
        var changedAt: Double
    }

    private var peers: [String: Peer] = [:]

    /// Seconds without a sign after which a machine no longer counts: two missed heartbeats and some delay.
    static let silence = 660.0
    private static let countLimit = 64

    /// - Parameters:
    ///   - notices: by device id, without that of this machine.
    ///   - uptime: seconds on a clock that never steps.
    mutating func apply(_ notices: [String: AlertNotice], _ model: ViewModel, uptime: Double) {
        var pushes: [String: Int] = [:]
        for device in model.devices {
            if let id = device.id?.lowercased() { pushes[id] = device.lastPush.timeIntervalSince1970.wholeSeconds }
        }
        var updated: [String: Peer] = [:]
        for (id, notice) in notices.sorted(by: { $0.key < $1.key }).prefix(Self.countLimit) {
            let sign = [notice.heartbeat, pushes[id] ?? 0]
            let former = peers[id]
            updated[id] = Peer(
                watches: notice.watches, sign: sign,
                changedAt: former?.sign == sign ? former?.changedAt ?? uptime : uptime)
        }
        peers = updated
    }

    /// After a time in which nothing could be noticed, all count as alive again.
    mutating func excuse(uptime: Double) {
        for id in peers.keys { peers[id]?.changedAt = uptime }
    }

    /// Those that warn at present.
    func alive(uptime: Double) -> [String] {
        peers.filter { $0.value.watches && uptime - $0.value.changedAt < Self.silence }.map(\.key)
    }
}
