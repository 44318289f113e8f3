package import ClockZones
import Essentials

/// The ledger as reports read it.
package struct LedgerUsage: Sendable {
    private var union: LedgerUnion
    private let zone: ClockZone

    /// - Parameter zone: whose days are reported.
    package init(_ pages: LedgerPages, zone: ClockZone) {
        union = LedgerUnion(pages.byDevice, imports: pages.importsByDevice, rules: pages.rules, zone: zone)
        self.zone = zone
    }

    /// What a usage needs besides what is stored.
    package struct Names {
        package var device: (String) -> String
        package var project: (String) -> String

        /// - Parameters:
        ///   - device: the name of a device's id.
        ///   - project: that of a project's key.
        package init(device: @escaping (String) -> String, project: @escaping (String) -> String) {
            self.device = device
            self.project = project
        }
    }

    /// What counts, as of one machine.
    ///
    /// - Parameters:
    ///   - grouping: of the report. Old months are stated by day, by project and by model, and the report decides which
    ///     of these are used. Sessions are included only where they are stated.
    ///   - isOfProject: whether the report is about one project.
    ///   - prices: at which to calculate costs again; see `UsageAmount.keptCostCount`.
    package mutating func usage(
        for grouping: TokenReport.Grouping, isOfProject: Bool = false, prices: ModelPrices? = nil, _ names: Names
    ) -> TokenUsage {
        var usage = TokenUsage()
        var builder = Builder(names, prices)
        for resolved in union.sessionDays() {
            let entry = resolved.entry
            let session = builder.session(
                String(entry.key.session, radix: 16), resolved.device, entry.source, entry.project)
            for line in entry.lines {
                let seconds =
                    entry.isFolded
                    ? noon(ofDay: entry.key.day + line.slot) : (entry.key.day * 24 + line.slot) * 3_600
                builder.add(line, at: seconds, session)
            }
        }
        func cells(of page: LedgerPage) -> [LedgerCell] {
            guard page.detail >= .months else { return page.cells }
            if isOfProject || grouping == .project, !page.projects.isEmpty { return page.projects }
            switch grouping {
            case .day, .week: return page.days
            default: return page.cells
            }
        }
        for (device, pages) in union.pages where grouping != .session {
            for cell in pages.lazy.flatMap(cells) {
                builder.add(
                    cell.line, at: noon(ofDay: cell.day), builder.session("", device, cell.source, cell.project))
            }
        }
        for (device, cells) in grouping == .session ? [:] : union.importedCells() {
            for cell in cells {
                builder.add(
                    cell.line, at: noon(ofDay: cell.day), builder.session("", device, cell.source, cell.project),
                    isImported: true)
            }
        }
        usage.sessions = builder.sessions
        usage.devices = builder.devices
        usage.models = builder.models
        usage.buckets = builder.buckets.sorted {
            ($0.first, $0.key.session, $0.key.model) < ($1.first, $1.key.session, $1.key.model)
        }
        return usage
    }

    /// A time on a day of the zone, in seconds since 1970.
    private func noon(ofDay day: Int) -> Int {
        let noon = day * 86_400 + 43_200
        return noon - zone.secondsFromGMT(at: noon)
    }

    private struct Builder {
        struct Place: Hashable {
            var id: String
            var device: String
            var source: String
            var project: String?
        }

        let names: Names
        var sessions: [TokenSession] = []
        var devices: [String] = []
        var models: [String] = []
        var buckets: [TokenBucket] = []
        private var places: [Place: UInt32] = [:]
        private var modelNumbers: [String: UInt16] = [:]
        private var prices: LedgerPrices?

        init(_ names: Names, _ prices: ModelPrices?) {
            self.names = names
            self.prices = prices.map(LedgerPrices.init)
        }

        mutating func session(_ id: String, _ device: String, _ source: String, _ project: String?) -> UInt32 {
            let place = Place(id: id, device: device, source: source, project: project)
            if let number = places[place] { return number }
            let number = UInt32(sessions.count)
            places[place] = number
            sessions.append(TokenSession(id: id, project: project.map(names.project), source: source))
            devices.append(names.device(device))
            return number
        }

        mutating func add(_ line: LedgerLine, at seconds: Int, _ session: UInt32, isImported: Bool = false) {
            // What is left of what is forgotten.
            guard line.amount != UsageAmount() else { return }
            var line = line
            let keepsCost = !isImported && prices?.recalculate(&line) == false
            var model = UInt16.max
            if let name = line.model {
                model = modelNumbers[name] ?? UInt16(clamping: models.count)
                if Int(model) == models.count, model < .max {
                    modelNumbers[name] = model
                    models.append(name)
                }
            }
            let time = Int64(seconds) * 1_000
            buckets.append(
                TokenBucket(
                    key: .init(
                        quarter: UInt32(clamping: time / TokenBucket.quarter), session: session, model: model,
                        tier: line.tier, surcharge: line.surcharge, isCoarse: line.isCoarse, isImported: isImported,
                        keepsCost: keepsCost),
                    first: time, last: time, requestCount: line.amount.requestCount, counts: line.amount.counts,
                    cost: line.amount.cost))
        }
    }
}
