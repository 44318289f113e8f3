/// The limits of an ``Emulator``, with their units in their names. All are high enough for tests; they bound what a
/// runaway program can make it take.
///
/// ```swift
/// var limits = EmulatorLimits()
/// limits.worldCount = 16
/// try await Emulator.run(limits: limits) { emulator in print(emulator.pageURL) }
/// ```
public struct EmulatorLimits: Sendable, Equatable {
    /// Worlds at a time.
    public var worldCount = 4_096
    /// Devices of all worlds.
    public var deviceCount = 16_384
    /// Removed stores that are remembered, so that replicas drop what these held.
    public var removedStoreCount = 16_384
    /// Memory of all keys, values and tombstones, estimated at 384 bytes for each besides its content.
    public var memoryByteCount = 256 * 1_024 * 1_024
    /// Bytes of a document that is imported.
    public var importByteCount = 64 * 1_024 * 1_024
    /// Events that readers can still get.
    public var eventCount = 4_096
    /// Memory of those events, estimated.
    public var eventByteCount = 8 * 1_024 * 1_024
    /// Decisions about keys that are kept, and replicas whose devices are known.
    public var decisionCount = 65_536
    /// Memory of those decisions, estimated.
    public var decisionByteCount = 16 * 1_024 * 1_024

    /// The default limits.
    public init() {}
}
