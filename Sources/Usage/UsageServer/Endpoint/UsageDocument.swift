import Commands
import Crypto
import Essentials
import KVStoreCore
import KVStoreServer
import KVStoreWire
import NIOCore
import NIOHTTP1
import UsageState

/// The answer to a query.
struct UsageDocument {
    /// As many bytes as a store may have.
    static let byteLimit = StoreLimits.ceiling.totalByteCount

    let format: UsageQuery.Format
    let body: Data
    /// An entity tag (RFC 9110, section 8.8.3). That of JSON is weak: it does not change with what passes with time
    /// alone.
    let tag: String

    /// - Parameter devices: of the account.
    init(_ data: UsageData, devices: [DaemonDevice], query: UsageQuery, now: Date) throws(Problem) {
        let model = ViewModel(data: data, now: now, zone: query.zone, options: ViewOptions(measure: query.measure))
        let providers = try query.selection(of: model.providers)
        lazy var cards = DeviceCard.list(model.devices, .known(devices.map { KnownDevice($0) }))
        format = query.format
        switch query.format {
        case .json:
            var report = UsageReport(model, providers: providers)
            report.devices = cards.compactMap { card in
                var device = card.pushed
                device?.availability = card.presence.value(at: now)
                return device
            }
            body = try Self.json(report)
            tag = "W/" + Self.tag(try Self.json(report.withoutAges))
        case .cards:
            body = try Self.json(
                UsageCards(
                    situation: model.situation, empty: EmptyState(model),
                    answer: UsageAnswers(model, of: providers),
                    cards: providers.map { UsageCard($0) }, devices: cards))
            tag = Self.tag(body)
        case .details:
            body = try Self.json(providers.map { UsageDetails($0, model) })
            tag = Self.tag(body)
        case .spending:
            body = try Self.json(SpendingDocument(spending: Spending(providers, model)))
            tag = Self.tag(body)
        case .text:
            body = Data(UsageText.text(model, providers, hasWindowsOnly: query.window != nil).utf8)
            tag = Self.tag(body)
        case .svg:
            body = Data(UsageBadge(model, providers, provider: query.provider).svg.utf8)
            tag = Self.tag(body)
        }
        guard body.count <= Self.byteLimit else { throw .answerTooLarge(limit: Self.byteLimit) }
    }

    private static func json(_ report: some Encodable) throws(Problem) -> Data {
        do { return try JSONOutput.encoded(report) } catch { throw .unencodableUsage("\(error)") }
    }

    private static func tag(_ body: Data) -> String {
        let digest = SHA256.hash(data: body).prefix(12)
        return "\"" + digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "\""
    }

    /// 304 without a body if the client has it already.
    ///
    /// - Parameters:
    ///   - tags: those of the client, as `If-None-Match` lists them.
    ///   - isDeflated: whether the client takes a compressed answer.
    func answer(unless tags: String?, isDeflated: Bool) -> Answer {
        let deflatedTag = EntityTag.ofDeflated(tag)
        func fields(_ tag: String) -> [(name: String, value: String)] {
            [(name: "ETag", value: tag), (name: "Vary", value: "Accept, Accept-Encoding")]
        }
        if let tags, let kept = [tag, deflatedTag].first(where: { EntityTag.list(tags, contains: $0) }) {
            return .notModified(fields(kept))
        }
        if isDeflated, body.count > Self.uncompressedByteCount, let bytes = Zlib.deflate(Array(body)) {
            var answer = Answer(format.mediaType, ByteBuffer(bytes: bytes))
            answer.fields = fields(deflatedTag) + [("Content-Encoding", "deflate")]
            return answer
        }
        var answer = Answer(format.mediaType, ByteBuffer(bytes: body))
        answer.fields = fields(tag)
        return answer
    }

    /// What fits into one packet anyway.
    private static let uncompressedByteCount = 1_024
}

/// What a screen says about everything, as long as the store has the same values: times are in it as times.
private struct UsageCards: Encodable {
    var schemaVersion = 1
    var situation: ViewModel.Situation
    var empty: EmptyState?
    var answer: UsageAnswers
    var cards: [UsageCard]
    var devices: [DeviceCard]
}

extension UsageReport {
    /// Without what differs from one second to the next.
    fileprivate var withoutAges: UsageReport {
        var report = self
        report.generatedAt = Date(timeIntervalSince1970: 0)
        for device in report.devices.indices { report.devices[device].ageSeconds = 0 }
        for provider in report.providers.indices {
            report.providers[provider].ageSeconds = 0
            for window in report.providers[provider].windows.indices {
                report.providers[provider].windows[window].resetsInSeconds = nil
            }
        }
        return report
    }
}

extension Problem {
    fileprivate static func unencodableUsage(_ reason: String) -> Problem {
        Problem(
            500, "unencodable-usage", "Usage cannot be encoded", detail: reason.printable(scalarLimit: 200),
            hint: "push again with the current usage-push")
    }
}
