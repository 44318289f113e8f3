import Essentials
import SnapshotModels

/// Makes a source's provider fit to be stored: texts and lists of bounded length, numbers in range,
/// windows where every reader looks for them, no observation in the future.
enum SnapshotBounds {
    static let windowCount = 16
    /// Characters.
    static let nameLength = 80
    static let emailLength = 254
    static let messageLength = 300
    /// A percent outside this range is a mistake of the source.
    static let percent = -1_000.0...10_000.0
    /// Minutes: one minute to ten years.
    static let windowMinutes = 1...5_256_000
    /// Seconds by which an observation may be ahead of this machine's clock.
    static let clockTolerance: TimeInterval = 60
    /// Minutes of the weekly window. Sources that count whole seconds say 10 079.
    static let weeklyMinutes = 10_078...10_082

    static func bounded(_ provider: ProviderUsageSnapshot, at now: Date) -> ProviderUsageSnapshot {
        var copy = provider
        copy.providerID = text(provider.providerID, nameLength) ?? "unknown"
        copy.providerName = text(provider.providerName, nameLength) ?? copy.providerID
        copy.accountEmail = text(provider.accountEmail, emailLength)
        copy.loginMethod = text(provider.loginMethod, nameLength)
        copy.statusMessage = text(provider.statusMessage, messageLength)
        copy.usageDataConfidence = text(provider.usageDataConfidence, nameLength)
        copy.lastUpdated = min(provider.lastUpdated, now.addingTimeInterval(clockTolerance))
        copy.budget?.currencyCode = text(provider.budget?.currencyCode, nameLength) ?? ""
        copy.budget?.period = text(provider.budget?.period, nameLength)
        place(windows: &copy)
        return copy
    }

    /// `rateWindows` contains all windows; `primary` and `secondary` repeat two of them for readers
    /// that know only those. A source's own choice stays; of a mere list the weekly window becomes
    /// secondary and the first other one primary.
    private static func place(windows provider: inout ProviderUsageSnapshot) {
        provider.primary = provider.primary.flatMap(bounded)
        provider.secondary = provider.secondary.flatMap(bounded)
        let listed = (provider.rateWindows ?? []).prefix(windowCount).compactMap(bounded)
        if provider.primary == nil, provider.secondary == nil {
            provider.secondary = listed.first(where: isWeekly)
            provider.primary = listed.first { !isWeekly($0) && $0 != provider.secondary }
        }
        var windows = [provider.primary, provider.secondary].compactMap { $0 }
        for window in listed where !windows.contains(window) { windows.append(window) }
        provider.rateWindows = windows.isEmpty ? nil : windows
    }

    private static func isWeekly(_ window: SyncRateWindow) -> Bool {
        window.windowMinutes.map(weeklyMinutes.contains) ?? false
    }

    private static func bounded(_ window: SyncRateWindow) -> SyncRateWindow? {
        guard percent.contains(window.usedPercent) else { return nil }
        var copy = window
        copy.windowMinutes = window.windowMinutes.flatMap { windowMinutes.contains($0) ? $0 : nil }
        copy.label = text(window.label, nameLength)
        copy.resetDescription = text(window.resetDescription, nameLength)
        return copy
    }

    /// Truncates a text to a number of characters, marked with "…"; nil when nothing but space is
    /// left. A character may have any number of bytes, so these are bounded too.
    static func text(_ text: String?, _ length: Int) -> String? {
        guard let text else { return nil }
        let trimmed = text.trimmed()
        guard !trimmed.isEmpty else { return nil }
        let byteCount = length * 4
        guard trimmed.count > length || trimmed.utf8.count > byteCount else { return trimmed }
        var cut = ""
        for character in trimmed.prefix(length - 1) {
            guard cut.utf8.count + character.utf8.count <= byteCount - 3 else { break }
            cut.append(character)
        }
        return cut + "…"
    }
}
