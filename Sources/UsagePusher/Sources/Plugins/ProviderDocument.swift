import Essentials
import SnapshotModels

/// A document in which another program states the limits of providers: one object or a list.
///
/// Read are a provider of the snapshot (`ProviderUsageSnapshot`), the snapshot itself, and what CodexBar prints, see
/// `CodexBarRow`. One unreadable element does not affect the others.
struct ProviderDocument: Sendable, Equatable {
    /// With numbers.
    private(set) var providers: [ProviderUsageSnapshot] = []
    /// What could not be used, and the errors that the document states; fit to be shown.
    private(set) var issues: [String] = []
    /// Windows that were dropped, without their place.
    private(set) var flawed: [LimitReading] = []
    private var failedProviders: Set<String> = []

    static let byteLimit = SnapshotLimits.documentBytes
    private static let providerLimit = 128
    private static let issueLimit = 16

    /// Nil when it is not a JSON object or list, perhaps because it is not written to its end yet.
    ///
    /// - Parameter observedAt: for elements without a time of their own.
    init?(_ data: Data, observedAt: Date) {
        guard data.count <= Self.byteLimit,
            JSONShape.check(data, depthLimit: JSONFields.depthLimit) == .acceptable
        else { return nil }
        let decoder = JSONDecoder()
        decoder.userInfo[.observationTime] = observedAt
        // The caller says that it is no document; the decoder would show what is in it.
        guard let content = try? decoder.decode(Content.self, from: data) else { return nil }
        var unreadable = content.isCut ? 1 : 0
        for element in content.elements {
            switch element {
            case .provider(let card):
                add(card, error: card.isError ? card.statusMessage ?? "" : nil)
            case .codexBar(let row):
                for row in row.withAccounts {
                    add(row.card(observedAt: content.generatedAt ?? observedAt), error: row.error)
                }
            case .unreadable: unreadable += 1
            }
        }
        if unreadable > 0 { issues.append("\(unreadable) elements in a format that is not read") }
        issues = Array(issues.prefix(Self.issueLimit))
    }

    /// Whether the document states an error of a provider, or of CodexBar as a whole.
    func hasFailed(_ providerID: String) -> Bool {
        failedProviders.contains(providerID) || failedProviders.contains(CodexBarRow.wholeID)
    }

    private mutating func add(_ card: ProviderUsageSnapshot?, error: String?) {
        if let error, let id = card?.providerID {
            failedProviders.insert(id)
            let text = SecretMask.masked(error).displayText(limit: 160) ?? "failed"
            let name = id == CodexBarRow.wholeID ? "CodexBar" : id.displayText(limit: 40) ?? "?"
            issues.append(name + ": " + text)
        }
        guard var card, card.providerID != CodexBarRow.wholeID, providers.count < Self.providerLimit else { return }
        if card.rateWindows?.isEmpty == false {
            // They repeat two of the list, perhaps with other labels.
            (card.primary, card.secondary) = (nil, nil)
        }
        let dropped = card.tidy()
        if !dropped.isEmpty {
            let id = card.providerID.displayText(limit: 40) ?? "?"
            issues.append(
                "\(id): dropped, since a percent or a reset cannot be: "
                    + dropped.prefix(3).map(\.statement).joined(separator: ", "))
            flawed += dropped
        }
        if card.hasNumbers || card.costSummary != nil { providers.append(card) }
    }

    private enum Element {
        case provider(ProviderUsageSnapshot)
        case codexBar(CodexBarRow)
        case unreadable
    }

    private struct Content: Decodable {
        var elements: [Element] = []
        var isCut = false
        var generatedAt: Date?

        private enum Key: String, CodingKey { case providers }

        init(from decoder: any Decoder) throws {
            // Then it is a list.
            guard let fields = try? JSONFields(from: decoder) else {
                try read(decoder.unkeyedContainer())
                return
            }
            generatedAt = fields.date("generatedAt")
            let container = try decoder.container(keyedBy: Key.self)
            // Else it is a card itself.
            if let list = try? container.nestedUnkeyedContainer(forKey: .providers) {
                try read(list)
            } else {
                elements = [try AnyElement(from: decoder).element]
            }
        }

        private mutating func read(_ list: any UnkeyedDecodingContainer) throws {
            var list = list
            while !list.isAtEnd {
                guard elements.count < SnapshotLimits.providers else {
                    isCut = true
                    return
                }
                elements.append(try list.decode(AnyElement.self).element)
            }
        }
    }

    /// Never throws, since a list would not go on after an error.
    private struct AnyElement: Decodable {
        let element: Element

        init(from decoder: any Decoder) throws {
            // Counted as unreadable, here and below.
            guard let fields = try? JSONFields(from: decoder) else {
                element = .unreadable
                return
            }
            if fields.text("providerID") != nil {
                element = (try? ProviderUsageSnapshot(from: decoder)).map { .provider($0) } ?? .unreadable
            } else {
                element = CodexBarRow(fields).map { .codexBar($0) } ?? .unreadable
            }
        }
    }
}

extension ProviderUsageSnapshot {
    /// The card at the time `now`: without windows that have been reset since, which the status names.
    func current(at now: Date) -> ProviderUsageSnapshot {
        var reset: Set<WindowKind> = []
        func live(_ window: SyncRateWindow?) -> SyncRateWindow? {
            guard let window else { return nil }
            if window.reading.isLive(observedAt: lastUpdated, at: now) { return window }
            if window.label == nil { reset.insert(window.reading.kind) }
            return nil
        }
        var card = self
        card.primary = live(primary)
        card.secondary = live(secondary)
        card.rateWindows = rateWindows?.compactMap(live)
        card.statusMessage = statusMessage ?? WindowKind.resetNotice(reset.sorted())
        return card
    }

    /// Makes the texts fit to be shown, without credentials, and leaves out invalid percentages. The address is not
    /// masked: accounts that it distinguishes would become one.
    ///
    /// - Returns: the windows that were left out, since their numbers cannot be.
    fileprivate mutating func tidy() -> [LimitReading] {
        func masked(_ text: String?) -> String? {
            text.flatMap { SecretMask.masked($0).displayText(limit: SnapshotBounds.messageLength) }
        }
        func tidied(_ window: SyncRateWindow?) -> SyncRateWindow? {
            guard var window, window.statement(of: self).implausibility == nil else { return nil }
            let isNamedByLength = window.label?.lowercased() == window.reading.kind.name
            window.label = isNamedByLength ? nil : masked(window.label)
            window.resetDescription = masked(window.resetDescription)
            return window
        }
        providerID = providerID.displayText() ?? "unknown"
        providerName = providerName.displayText() ?? providerID
        accountEmail = accountEmail?.displayText(limit: SnapshotBounds.emailLength)
        statusMessage = masked(statusMessage)
        loginMethod = masked(loginMethod)
        let dropped = windows.map { $0.statement(of: self) }.filter { $0.implausibility != nil }
        primary = tidied(primary)
        secondary = tidied(secondary)
        let kept = rateWindows?.compactMap { tidied($0) }
        rateWindows = kept?.isEmpty == true ? nil : kept
        return dropped
    }

    /// What the card states, window by window.
    var readings: [LimitReading] { windows.map { $0.statement(of: self) } }
}

extension SyncRateWindow {
    /// Without its label.
    fileprivate var reading: LimitReading.Window {
        LimitReading.Window(
            kind: windowMinutes.map { WindowKind(minutes: $0, place: 0) } ?? .unstated,
            usedPercent: usedPercent, resetsAt: resetsAt)
    }

    /// As a statement of the card's program. A window of unstated length may be of a year.
    fileprivate func statement(of card: ProviderUsageSnapshot) -> LimitReading {
        var window = reading
        let seconds = resetsAt?.timeIntervalSince(card.lastUpdated) ?? 0
        if window.kind == .unstated, seconds > window.kind.seconds {
            window.kind = .length(minutes: 366 * 1_440)
        }
        return LimitReading(
            limit: "\(card.providerID) \(label ?? window.kind.name)", label: label,
            windows: [window], observedAt: card.lastUpdated, origin: LimitReading.Origin(path: ""))
    }
}
