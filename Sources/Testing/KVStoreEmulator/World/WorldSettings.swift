import KVStoreCore

/// How a world treats writes.
struct WorldSettings: Sendable, Equatable {
    /// Refuses with an error what Apple's service drops silently.
    var isStrict = false
    /// Nil for the limits of the daemon.
    var quota: StoreLimits?
    /// Seeds the randomness of faults.
    var seed: UInt64

    /// The limits that writes are compared with; strict worlds without a quota have those that Apple documents.
    var limits: StoreLimits? {
        quota ?? (isStrict ? StoreLimits(keyProfile: .classic) : nil)
    }
}

/// The settings as JSON; in a `PUT`, fields that are absent do not change.
struct SettingsDocument: Sendable, Equatable, Codable {
    /// A profile has its numbers unless they are named.
    struct Quota: Sendable, Equatable, Codable {
        /// A `KeyProfile`, or `daemon` for no other limits than those of the daemon.
        var profile: String
        var totalByteCount: Int?
        var valueByteCount: Int?
        var keyCount: Int?
        /// Read only.
        var keyLength: Int?
    }

    var strict: Bool?
    var quota: Quota?
    var seed: UInt64?

    init(_ settings: WorldSettings) {
        strict = settings.isStrict
        seed = settings.seed
        let profile = settings.quota?.keyProfile.rawValue ?? Self.daemonProfile
        let limits = settings.quota ?? .ceiling
        quota = Quota(
            profile: profile, totalByteCount: limits.totalByteCount, valueByteCount: limits.valueByteCount,
            keyCount: limits.keyCount, keyLength: limits.keyProfile.limit)
    }

    private static let daemonProfile = "daemon"

    /// Nil if the document is valid.
    var defect: String? {
        guard let quota else { return nil }
        guard quota.profile == Self.daemonProfile || KeyProfile(rawValue: quota.profile) != nil
        else { return "quota.profile is standard, classic or daemon" }
        let numbers = [
            ("totalByteCount", quota.totalByteCount), ("valueByteCount", quota.valueByteCount),
            ("keyCount", quota.keyCount),
        ]
        for case (let name, let number?) in numbers where number < 0 {
            return "quota.\(name) is negative"
        }
        return nil
    }

    /// Applies a valid document.
    func apply(to settings: inout WorldSettings) {
        settings.isStrict = strict ?? settings.isStrict
        settings.seed = seed ?? settings.seed
        guard let quota else { return }
        guard let profile = KeyProfile(rawValue: quota.profile) else {
            settings.quota = nil
            return
        }
        var limits = StoreLimits(keyProfile: profile)
        limits.totalByteCount = quota.totalByteCount ?? limits.totalByteCount
        limits.valueByteCount = quota.valueByteCount ?? limits.valueByteCount
        limits.keyCount = quota.keyCount ?? limits.keyCount
        settings.quota = limits
    }
}
