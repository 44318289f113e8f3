/// A position in a store's history: a sequence number together with the epoch that it belongs to.
///
/// For an example see `SyncTransport`.
public struct SyncCursor: Sendable, Hashable {
    public var epoch: EpochID
    /// Everything up to this sequence number is known.
    public var sequence: UInt64

    public init(epoch: EpochID, sequence: UInt64) {
        self.epoch = epoch
        self.sequence = sequence
    }
}

extension SyncCursor: CustomStringConvertible {
    public var description: String { "\(sequence) in epoch \(epoch)" }
}
