package import Essentials
package import KVStoreEssentials
import LocalFiles

/// The devices of the joined account: as its daemon lists them, and as it did last while it is unreachable.
package struct AccountDevices: Sendable {
    private let environment: StoreEnvironment
    private let credentials: Credentials

    /// What the daemon answered.
    package struct Answer: Sendable, Equatable, Codable {
        /// `lastSeen` is by this machine's clock.
        package var devices: [DaemonDevice]
        package var received: Date
        /// Seconds by which this machine's clock is ahead of the daemon's; nil if the daemon does not tell its time.
        package var clockLead: Double?
    }

    package init(environment: StoreEnvironment = StoreEnvironment(), _ credentials: Credentials) {
        self.environment = environment
        self.credentials = credentials
    }

    /// Beside the replicas of the account; not the name of a store.
    private var file: LocalFile {
        LocalFile(environment.accountDirectory(credentials) + "/.devices")
    }
    private static let byteCount = 1_048_576

    /// What the daemon answered last to a program of this user; nil if none has asked, or the file is damaged.
    package var lastAnswer: Answer? {
        guard let content = try? file.read(byteLimit: Self.byteCount) else { return nil }  // the daemon is asked again
        return try? WireJSON.decode(from: content.data)  // the daemon is asked again
    }

    /// Asks the daemon, and keeps the answer for `lastAnswer` and this device's name in the credentials file.
    package func ask(_ client: DaemonClient) async throws(SyncTransportError) -> Answer {
        let list = try await client.deviceList()
        let received = Date()
        let answer = Answer(list, received: received)
        // Without them the same is asked again.
        try? LocalDirectory(file.directory.path).create()
        try? file.replace(with: WireJSON.encode(answer), durability: .cached)  // a cache
        if !credentials.isFromEnvironment,
            let name = list.devices.first(where: { $0.deviceID == credentials.deviceID })?.device,
            name != credentials.deviceName
        {
            // Tried again with the next answer.
            try? environment.credentialsFile.renameDevice(of: credentials, to: name)
        }
        return answer
    }
}

extension AccountDevices.Answer {
    /// Corrects times by the difference of the two clocks.
    init(_ list: DeviceList, received: Date) {
        self.received = received
        devices = list.devices
        guard let serverTime = list.serverTime else { return }
        let difference = Int64(received.timeIntervalSince1970 * 1_000) &- serverTime
        clockLead = Double(difference) / 1_000
        let range = WireNumber.milliseconds
        for index in devices.indices {
            devices[index].lastSeen = devices[index].lastSeen.map {
                min(max($0 &+ difference, range.lowerBound), range.upperBound)
            }
        }
    }
}
