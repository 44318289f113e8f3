public import Foundation
public import SnapshotModels

/// Reads the sources and builds this device's snapshot from their readings.
///
/// Keeps the last reading of every source, so that only sources whose files changed need to be read
/// again.
public struct SnapshotBuilder: Sendable {
    /// One source and its last reading.
    public struct Report: Sendable, Equatable {
        public var providerID: String
        public var providerName: String
        /// Nil before the first read.
        public var reading: SourceReading?
    }

    private var sources: [any UsageSource]
    public let environment: SourceEnvironment
    private let device: DeviceIdentity
    private let appVersion: String?
    /// In the order of the sources.
    public private(set) var reports: [Report]

    public init(
        sources: [any UsageSource], environment: SourceEnvironment, device: DeviceIdentity,
        appVersion: String? = nil
    ) {
        self.sources = sources
        self.environment = environment
        self.device = device
        self.appVersion = appVersion
        reports = sources.map { Report(providerID: $0.providerID, providerName: $0.providerName) }
    }

    /// The paths to watch for all sources, each once.
    public var watchedPaths: [WatchedPath] {
        var seen: Set<WatchedPath> = []
        return sources.flatMap { $0.watchedPaths(in: environment) }.filter {
            seen.insert($0).inserted
        }
    }

    /// Reads all sources.
    public mutating func readAll(at now: Date) {
        for index in sources.indices { read(index, at: now) }
    }

    /// Reads the sources that watch one of the paths.
    public mutating func read(changed paths: Set<WatchedPath>, at now: Date) {
        for index in sources.indices
        where !paths.isDisjoint(with: sources[index].watchedPaths(in: environment)) {
            read(index, at: now)
        }
    }

    private mutating func read(_ index: Int, at now: Date) {
        reports[index].reading = sources[index].read(in: environment, at: now)
    }

    /// The snapshot of the last readings; nil when no source knows anything.
    public func snapshot(at now: Date) -> SyncedUsageSnapshot? {
        let providers = reports.compactMap(\.reading?.provider)
            .map { SnapshotBounds.bounded($0, at: now) }
        guard !providers.isEmpty else { return nil }
        return SyncedUsageSnapshot(
            providers: providers, syncTimestamp: now, deviceName: device.name,
            deviceID: device.id, appVersion: appVersion
        ).normalized()
    }
}
