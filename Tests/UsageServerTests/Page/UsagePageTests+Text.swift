import ClockZones
import ServerTestSupport
import Commands
import Foundation
import SnapshotModels
import TerminalText
import Testing
import UsageState

@testable import usage_view

/// The terminal and the page show the same text for each state.
extension UsagePageTests {
    /// Minutes after the state was stored: before and after resets, ages at which numbers are stale, midnight and half
    /// a year.
    private static let times: [Double] = [
        0, 0.5, 1, 29.99, 30, 57.99, 58.01, 59, 89.99, 90, 180, 719.99, 720, 1_439, 2_879, 2_880, 6_000, 300_000,
    ]

    private struct DisplayOptions: Encodable {
        var measure: String
        var isAbsolute: Bool

        static let all = [
            DisplayOptions(measure: "used", isAbsolute: false),
            DisplayOptions(measure: "left", isAbsolute: true),
        ]
    }

    @Test("the page and the terminal show the same text for every state, time and option")
    func sameText() async throws {
        try await open(signsIn: false) { browser, daemon in
            try await compare(browser, zone: .local)
            guard browser.kind == .chromium else { return }
            try await browser.withNewWindow {
                try await browser.devTools("Emulation.setTimezoneOverride", ["timezoneId": "Asia/Kolkata"])
                try await browser.open(daemon.url)
                try await compare(browser, zone: .fixed(secondsFromGMT: 19_800))
            }
        }
    }

    private func compare(_ browser: Browser, zone: ClockZone) async throws {
        let hasTwelveHours =
            try await browser.text(
                "return String(new Intl.DateTimeFormat(undefined, { hour: 'numeric' }).resolvedOptions().hour12)"
            ) == "true"
        for state in try StoredState.all() {
            let stored = ViewModel(
                data: state.data, now: StoredState.now, zone: zone, options: ViewOptions(sortOrder: .name))
            let document = Document(stored, state.devices)
            let shown = try await texts(of: String(decoding: try JSONOutput.data(document), as: UTF8.self), browser)
            var expected: [[String]] = []
            for options in DisplayOptions.all {
                for minutes in Self.times {
                    expected.append(
                        Self.texts(
                            ViewModel(
                                data: state.data, now: StoredState.now.addingTimeInterval(minutes * 60), zone: zone,
                                options: ViewOptions(
                                    measure: .init(rawValue: options.measure) ?? .used, isAbsolute: options.isAbsolute,
                                    sortOrder: .name, isTwelveHour: hasTwelveHours)),
                            state.devices, stored))
                }
            }
            #expect(shown.count == expected.count)
            for (index, (shown, expected)) in zip(shown, expected).enumerated()
            where shown != expected {
                let difference = zip(shown, expected).filter { $0 != $1 }.prefix(3)
                    .map { "the page shows '\($0)', the terminal '\($1)'" }
                Issue.record(
                    "\(state.name), \(Self.times[index % Self.times.count]) minutes later: \(shown.count) and \(expected.count) texts; \(difference.joined(separator: "\n"))"
                )
            }
            #expect(shown.first?.isEmpty == false)
        }
    }

    /// The daemon's answer.
    private struct Document: Encodable {
        var empty: EmptyState?
        var answer: UsageAnswers
        var cards: [UsageCard]
        var details: [UsageDetails]
        var devices: [DeviceCard]

        init(_ model: ViewModel, _ known: KnownDevices) {
            empty = EmptyState(model)
            answer = UsageAnswers(model, of: model.providers)
            cards = model.providers.map { UsageCard($0) }
            details = model.providers.map { UsageDetails($0, model) }
            devices = DeviceCard.list(model.devices, known)
        }
    }

    /// - Parameter stored: the state when the daemon answered, which decides about costs.
    private static func texts(_ model: ViewModel, _ known: KnownDevices, _ stored: ViewModel) -> [String] {
        if let empty = EmptyState(model) {
            return ([empty.title] + empty.steps).map(model.text)
        }
        // Costs are shown as the daemon answered; the page asks again every minute.
        let cards = zip(model.providers, stored.providers).flatMap {
            provider, state -> [String] in
            let card = UsageCard(provider)
            let who = [card.account, card.plan].compactMap { $0 }.joined(separator: " · ")
            let rows =
                ProviderCard(provider, model: model).rows.filter { $0.label != "Cost" }
                + ProviderCard(state, model: stored).rows.filter { $0.label == "Cost" }
            let texts = rows.flatMap { row -> [String] in
                switch row.content {
                case .text(let text, _): [row.label, text, ""]
                case .gauge(let gauge):
                    [
                        row.label, gauge.text,
                        [gauge.out.isEmpty ? "" : "▲ " + gauge.out, gauge.reset, gauge.details]
                            .filter { !$0.isEmpty }.joined(separator: " · "),
                    ]
                }
            }
            let source = card.source.map { "from \($0), " } ?? ""
            let status = card.status.map { model.text($0.text) } ?? ""
            return [card.name, who, source + model.age(card).text] + texts + [status]
        }
        let details = zip(model.providers, stored.providers).flatMap { provider, state -> [String] in
            let notes = UsageNote.all(on: provider).compactMap { $0.value(at: model.now) }
            let details = UsageDetails(state, stored, series: [])
            return notes.flatMap { [model.text($0.text), $0.next.isEmpty ? "" : "Next: \($0.next)"] }
                + details.tables.flatMap { table in [table.title] + table.rows.flatMap { [$0.name] + $0.texts } }
        }
        let devices = DeviceCard.list(model.devices, known).flatMap { card in
            let presence = card.presence.value(at: model.now)
            return [card.name, presence.word, model.text(card.remark(on: presence))]
        }
        var options = model.options
        options.sortOrder = .tightest
        let ordered = ViewModel(data: model.data, now: model.now, zone: model.zone, options: options)
        return [model.text(UsageAnswer(model).forms[0])] + cards + details + devices
            + ordered.providers.map { UsageCard($0).name }
    }

    /// The texts that the page's own code shows of a document, with all options at each time.
    private func texts(of document: String, _ browser: Browser) async throws -> [[String]] {
        let choices = String(decoding: try JSONEncoder().encode(DisplayOptions.all), as: UTF8.self)
        let found = try await browser.executeAsync(
            """
            const [document_, choices] = [\(document), \(choices)];
            const times = \(Self.times).map(minutes => \(StoredState.now.timeIntervalSince1970) * 1000 + minutes * 60000);
            const text = element => element.hidden ? '' : element.textContent;
            const all = (element, selector) => [...element.querySelectorAll(selector)].map(text);
            (async () => {
                const [{ createCard, renderAnswer, renderCards, updateCard, renderEmpty }, { Details }, { renderDevices }, { options }, { TimeFormatter }] =
                    await Promise.all(['cards', 'details', 'devices', 'state', 'times'].map(name => import(`/page/${name}.js`)));
                const show = async times => {
                    const { empty, answer, cards, details, devices } = document_;
                    if (empty) {
                        const list = document.createElement('div');
                        renderEmpty(list, empty, times);
                        return all(list, 'h2, li');
                    }
                    const strip = document.createElement('p');
                    renderAnswer(strip, { answer }, times);
                    const lines = [text(strip)];
                    lines.push(...cards.flatMap(card => {
                        const element = createCard(card);
                        updateCard(element, card, times);
                        return all(element, 'h2, .who, .age, .use h3, .amount, .more, .message');
                    }));
                    for (const [index, card] of cards.entries()) {
                        const element = document.createElement('div');
                        const found = { ...details[index], series: [] };
                        await new Promise(resolve => {
                            const pane = new Details({ details: async () => found }, resolve);
                            pane.render(element, card, times);
                            pane.changed = () => { pane.render(element, card, times); resolve(); };
                        });
                        lines.push(...all(element.lastElementChild, '.note p, h3, th, td.number'));
                    }
                    const list = document.createElement('div');
                    renderDevices(list, devices, times);
                    const accounts = document.createElement('div');
                    options.sort = 'least';
                    renderCards(accounts, cards, times);
                    return [...lines, ...[...list.children].flatMap(item => [...item.firstElementChild.children].map(text)), ...all(accounts, 'h2')];
                };
                const shown = [];
                for (const choice of choices) {
                    Object.assign(options, choice);
                    for (const time of times) shown.push(await show(new TimeFormatter(time)));
                }
                return JSON.stringify(shown);
            })().then(done, error => done(JSON.stringify([[String(error)]])));
            """)
        return try JSONDecoder().decode([[String]].self, from: Data("\(found)".utf8))
    }
}
