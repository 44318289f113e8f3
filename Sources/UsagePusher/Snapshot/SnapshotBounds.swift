import Foundation
import SnapshotModels

/// What a source says, made fit to be stored: texts and lists of bounded length, numbers that can
/// be written, windows where every reader looks for them, no observation in the future.
enum SnapshotBounds {
    static let providerCount = 100
    static let windowCount = 16
    static let costDayCount = 31
    static let breakdownCount = 24
    /// Characters.
    static let nameLength = 80
    static let emailLength = 254
    static let messageLength = 300
    /// Percent; outside it a number is a mistake of the source.
    static let percent = -1_000.0...10_000.0
    /// Minutes: one minute to ten years.
    static let windowMinutes = 1...5_256_000
    /// Seconds that an observation may be ahead of this machine's clock.
    static let clockTolerance: TimeInterval = 60
    /// Minutes that make a window the weekly one. Sources that count whole seconds say 10 079.
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
        copy.costSummary?.daily = provider.costSummary?.daily?.suffix(costDayCount).map(bounded)
        place(windows: &copy)
        return copy
    }

    /// `rateWindows` holds all windows; `primary` and `secondary` repeat two of them for readers
    /// that know only those. What a source has placed stays. Where it gave a list only, the weekly
    /// window is secondary and the first other one is primary.
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

    private static func bounded(_ day: SyncDailyCost) -> SyncDailyCost {
        func rows(_ rows: [SyncCostBreakdown]?) -> [SyncCostBreakdown]? {
            rows.map { rows in
                rows.prefix(breakdownCount).map {
                    SyncCostBreakdown(label: text($0.label, nameLength) ?? "", costUSD: $0.costUSD)
                }
            }
        }
        var copy = day
        copy.dayKey = text(day.dayKey, nameLength) ?? ""
        copy.modelBreakdowns = rows(day.modelBreakdowns)
        copy.serviceBreakdowns = rows(day.serviceBreakdowns)
        return copy
    }

    /// Cut to a length, with a mark that it was; nil when there is nothing to read. A character
    /// may be made of many, so the bytes are bounded too.
    static func text(_ text: String?, _ length: Int) -> String? {
        guard let text else { return nil }
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
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
