import Foundation
import SnapshotModels
import Commands
import TerminalText
import StoreTestSupport
import Testing
import UsageState

@testable import usage_view

@Suite("Live screens")
struct LiveScreenTests {
    static let widths = [20, 40, 45, 60, 79, 80, 99, 100, 150, 240, 320]
    static let heights = [10, 24, 50, 60]

    /// What is shown, and why it is a case of its own.
    enum Case: String, CaseIterable {
        case usage, detail, history, spending, costs, year, devices, keys, settings, help
        case stale, states, waiting, notJoined, offline, noProviders, unreadable, hostile

        func model() throws -> LiveModel {
            func empty(_ stored: UsageData.Stored, _ link: UsageData.Link) -> LiveModel {
                LiveSample.model(Sample.model(stored: stored, link: link)) {
                    $0.keys = []
                    $0.series = []
                    if link == .notJoined { $0.account = nil }
                    $0.server = .unreachable
                }
            }
            switch self {
            case .stale:
                return LiveSample.model(
                    try Sample.model("busy-box", link: .offline(lastSeen: Sample.now), minutesLater: 180)
                ) { $0.server = .unreachable }
            case .waiting: return empty(.nothing, .online)
            case .notJoined: return empty(.nothing, .notJoined)
            case .offline: return empty(.nothing, .offline(lastSeen: nil))
            case .noProviders:
                let snapshot = SyncedUsageSnapshot(providers: [], syncTimestamp: Sample.now, deviceName: "box")
                return empty(.usage(SnapshotMerge.merge([snapshot], now: Sample.now)), .online)
            case .unreadable: return empty(.unreadable(reason: "it is not UTF-8 text"), .online)
            case .hostile: return LiveSample.model(try Sample.model("hostile-text"))
            case .costs: return LiveSample.model(try SpendingTests.model())
            case .year:
                let costs = try SpendingTests.model()
                var data = costs.data
                data.year = SpendingYearTests.year(at: costs.now)
                return LiveSample.model(ViewModel(data: data, now: costs.now, zone: costs.zone))
            default: return try LiveSample.busy()
            }
        }

        var state: LiveState {
            var state = LiveState()
            state.scene.section = Section(rawValue: rawValue) ?? .usage
            state.scene.isDetailOpen = self == .detail || self == .states || self == .keys
            if self == .costs || self == .year {
                state.scene.section = .spending
                state.scene.isDetailOpen = true
            }
            if self == .keys { state.scene.position.selection = "greeting" }
            // An account with an expired window, old numbers and a cached reading.
            if self == .states { state.scene.position.selection = "codex\tdev@example.test" }
            return state
        }
    }

    /// A case whose model has been read.
    private struct Subject {
        let shown: Case
        let model: LiveModel

        init(_ shown: Case) throws {
            self.shown = shown
            model = try shown.model()
        }

        func screen(_ columns: Int, _ rows: Int) -> Screen {
            LiveScreen.drawing(for: model, state: shown.state, size: ScreenSize(columns: columns, rows: rows)).screen
        }
    }

    @Test("a key says which device set it, if one pushes with that id")
    func writers() throws {
        func writer(_ devices: [(id: String, name: String)]) throws -> String {
            let snapshots = devices.map {
                SyncedUsageSnapshot(
                    providers: [], syncTimestamp: Sample.now, deviceName: $0.name, deviceID: $0.id)
            }
            let stored = UsageData.Stored.usage(SnapshotMerge.merge(snapshots, now: Sample.now))
            let model = LiveSample.model(Sample.model(stored: stored, link: .online)) { data in
                for device in devices {
                    data.keys.append(data.keys[0])
                    data.keys[data.keys.count - 1].key = SyncedUsageSnapshot.storeKey(deviceID: device.id)
                }
                data.nameWriters()
            }
            let lines = KeysSection.detail(model, id: "greeting", form: .text, width: 80).map(\.plainText)
            return try #require(lines.first { $0.contains("writer") })
        }
        #expect(try writer([("1", "laptop")]).hasSuffix(" laptop · 00000000000000b0"))
        #expect(try !writer([("1", "laptop"), ("2", "box")]).contains("·"))
    }

    @Test("every state has a stored screen for every width and height", arguments: Case.allCases)
    func stored(shown: Case) throws {
        let subject = try Subject(shown)
        var text = ""
        for columns in Self.widths {
            for rows in Self.heights {
                text += "--- \(columns) x \(rows)\n"
                // What is blank at the end of a screen is left out.
                let lines = subject.screen(columns, rows).text(isColored: false)
                    .split(separator: "\n", omittingEmptySubsequences: false)
                var isBlank = false
                for line in lines.dropLast() {
                    let bare = line.allSatisfy { " │".contains($0) }
                    if !(bare && isBlank) { text += line + "\n" }
                    isBlank = bare
                }
            }
        }
        try Repository.expectScreen(text, equals: "live-\(shown.rawValue)")
    }

    /// Pieces of a line that stand side by side.
    private func pieces(_ line: String) -> [Substring] {
        line.split { "│▌".contains($0) }.flatMap { $0.split(separator: "   ") }
    }

    private func check(_ subject: Subject, _ columns: Int, _ rows: Int) {
        let screen = subject.screen(columns, rows)
        let place: Comment = "\(subject.shown) at \(columns) x \(rows)"
        #expect(screen.count == rows, place)
        for line in screen {
            let text = line.plainText
            #expect(line.cells <= columns && CellWidth.of(text) <= columns, place)
            #expect(!text.unicodeScalars.contains(where: VisibleText.isHidden), place)
            // Rules and bars are no text.
            for piece in pieces(text) where piece.contains(where: \.isLetter) {
                #expect(CellWidth.of(piece) <= Layout.textColumns, place)
            }
        }
        if columns >= 40, rows >= 10 { #expect(screen.last?.plainText.hasPrefix(" ? help  q quit") == true, place) }
    }

    @Test("the invariants hold at every width, of the widest at every third", arguments: Case.allCases)
    func everyWidth(shown: Case) throws {
        let subject = try Subject(shown)
        for columns in Array(20...140) + stride(from: 141, through: 320, by: 3) {
            check(subject, columns, 10 + columns % 51)
        }
    }

    @Test("the invariants hold at every height", arguments: Case.allCases)
    func everyHeight(shown: Case) throws {
        let subject = try Subject(shown)
        for rows in 10...60 {
            check(subject, Self.widths[rows % Self.widths.count], rows)
            check(subject, 80 + rows % 41, rows)
        }
    }

    @Test("nothing traps at sizes that nobody uses", arguments: Case.allCases)
    func tiny(shown: Case) throws {
        let subject = try Subject(shown)
        for columns in stride(from: 1, through: 41, by: 3) {
            for rows in 1...11 {
                let screen = subject.screen(columns, rows)
                #expect(screen.count == rows && screen.allSatisfy { $0.cells <= columns })
            }
        }
    }

    @Test("the layout is the one of the table")
    func layout() {
        func layout(_ columns: Int, _ rows: Int, _ change: (inout ViewSettings) -> Void = { _ in }) -> Layout {
            var settings = ViewSettings()
            change(&settings)
            return Layout(columns: columns, rows: rows, settings: settings, hasPreview: true)
        }
        #expect(layout(39, 24).form == .short && layout(40, 9).form == .short)
        #expect(layout(19, 24).form == .tiny && layout(40, 4).form == .tiny)
        #expect(layout(40, 10).tabs?.row == 8 && layout(79, 50).preview == nil)
        #expect(layout(40, 10) { $0.tabPosition = .top }.tabs?.row == 1)
        #expect(layout(80, 29).preview == nil)
        #expect(layout(80, 30).preview?.columns == 65 && layout(80, 30).sidebar?.columns == 14)
        #expect(layout(79, 24).sidebar == nil && layout(79, 24).tabs != nil)
        #expect(layout(40, 10) { $0.sidebar = .shown }.sidebar?.columns == 14)
        #expect(layout(40, 10) { $0.navigation = .sidebar }.sidebar?.columns == 14)
        #expect(layout(119, 24).preview == nil && layout(120, 24).preview?.column == 68)
        #expect(layout(120, 24) { $0.navigation = .tabs }.preview?.column == 60)
        #expect(layout(320, 60).preview?.columns == 90)
    }

    @Test("a sign shows every level whatever the colors are")
    func themes() throws {
        let model = try LiveSample.busy()
        let size = ScreenSize(columns: 150, rows: 50)
        func drawn(_ theme: ViewSettings.Theme) -> (colored: String, plain: String) {
            var state = LiveState()
            state.settings.theme = theme
            let screen = LiveScreen.drawing(for: model, state: state, size: size).screen
            return (screen.text(isColored: true), screen.text(isColored: false))
        }
        let (terminal, plain) = drawn(.terminal)
        #expect(terminal.contains("\u{1B}[31m") && terminal.contains("\u{1B}[32m"))
        let blind = drawn(.colorBlind).colored
        #expect(!blind.contains("\u{1B}[31m") && !blind.contains("\u{1B}[32m"))
        #expect(blind.contains("\u{1B}[35m") && blind.contains("\u{1B}[36m"))
        let none = drawn(.none).colored
        #expect(!none.contains(/\u{1B}\[3\d/))
        #expect(plain.contains("!! 92 % used") && plain.contains(" ! 81 % used"))
        #expect(plain.contains("~25 % used") && plain.contains("▌ Claude"))
    }

    @Test("a locale without Unicode gets ASCII")
    func ascii() throws {
        var state = LiveState()
        state.isUnicode = false
        state.scene.section = .history
        for columns in [60, 150] {
            let text = LiveScreen.drawing(
                for: try LiveSample.busy(), state: state, size: ScreenSize(columns: columns, rows: 40)
            ).screen.text(isColored: false)
            #expect(text.utf8.allSatisfy { $0 < 0x80 })
        }
    }
}
