import Commands
import Foundation
import SnapshotModels
import TerminalText
import Testing
import UsageState

@testable import usage_view

@Suite("Names of devices on every screen")
struct DeviceNameScreenTests {
    /// A form in which usage is shown, and whether it names devices.
    struct Surface: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var namesDevices = true
        let text: @Sendable (ViewModel) throws -> String
    }

    static let surfaces = [
        Surface(testDescription: "once") { model in
            text(ScreenLayout.screen(for: model, size: ScreenSize(columns: 100, rows: nil)))
        },
        Surface(testDescription: "plain") { PlainFacts($0).lines.joined(separator: "\n") },
        Surface(testDescription: "json") { model in
            String(decoding: try JSONOutput.data(UsageReport(model)), as: UTF8.self)
        },
        Surface(testDescription: "metrics") { PrometheusText($0).text },
        Surface(testDescription: "status line", namesDevices: false) { model in
            UsageSelection().items(of: model.providers, at: model.now).map {
                "\($0.provider.title) \($0.usedPercent ?? -1)"
            }.joined()
        },
        Surface(testDescription: "live") { model in
            // The past of a removed device stays until it is forgotten.
            text(Section.allCases.filter { $0 != .history }.flatMap { screen(model, $0) })
        },
        Surface(testDescription: "details") { model in
            String(decoding: try JSONEncoder().encode(model.providers.map { UsageDetails($0, model) }), as: UTF8.self)
        },
        Surface(testDescription: "alerts") { model in
            var detector = AlertDetector()
            var texts: [String] = []
            for minutes in [0.0, 2, 60, 120] {
                let later = ViewModel(
                    data: model.data, now: model.now.addingTimeInterval(minutes * 60), zone: model.zone)
                texts += detector.observe(later, rules: AlertRules(), ownDevice: nil)
                    .map { AlertText($0, now: later.now, zone: later.zone).title }
            }
            return texts.joined(separator: "\n")
        },
    ]

    @Test("the daemon's names are shown, and nothing of a removed device", arguments: surfaces)
    func named(surface: Surface) throws {
        let machines = try SeveralMachines()
        let shown = try surface.text(machines.model(machines.listed))
        for text in SeveralMachines.hosts + SeveralMachines.removed {
            #expect(!shown.contains(text), "\(text) in \(shown)")
        }
        for name in ["desk", "attic"] { #expect(shown.contains(name) == surface.namesDevices, "\(shown)") }
        #expect(surface.testDescription == "alerts" || shown.contains(/4[12]/), "\(shown)")
    }

    @Test("without a daemon the hosts' names are shown", arguments: surfaces.filter(\.namesDevices))
    func unnamed(surface: Surface) throws {
        let shown = try surface.text(try SeveralMachines().model(nil))
        for host in SeveralMachines.hosts { #expect(shown.contains(host), "\(shown)") }
    }

    private static func text(_ screen: Screen) -> String { screen.map(\.plainText).joined(separator: "\n") }

    private static func screen(_ model: ViewModel, _ section: Section) -> Screen {
        var state = LiveState()
        state.scene.section = section
        let live = LiveModel(
            LiveData(usage: model.data, server: .notAsked), now: model.now, zone: model.zone, options: model.options)
        return LiveScreen.drawing(for: live, state: state, size: ScreenSize(columns: 160, rows: 60)).screen
    }
}
