import Commands
import Essentials
import KVStoreHTTP
import TerminalText

/// The settings and what can be opened on this machine, as text or JSON.
struct LinkReport: Encodable {
    struct Form: Encodable {
        var name: LinkForm
        var isChosen: Bool
        var canOpen: Bool
        /// The application or the command; nil without one.
        var opener: String?
    }

    // Fields are added, never renamed or removed.
    var schemaVersion = 1
    var form: LinkForm
    var origin: ChosenForm.Origin
    var forms: [Form]
    /// The desktop entry that opens `airmail:` links.
    var airmailHandler: String?
    var isInstalled: Bool
    var problems: [String]

    private static let files = DesktopFiles()

    /// - Parameter handler: which desktop entry opens a scheme.
    init(_ chosen: ChosenForm, _ settings: DeviceSettings, handler: (String) -> String?) {
        form = chosen.form
        origin = chosen.origin
        forms = []
        problems = []
        for form in LinkForm.allCases {
            let (opener, obstacle) =
                form.scheme.map { Self.application(forScheme: $0, handler) }
                ?? Self.command(settings)
            let isChosen = form == chosen.form
            forms.append(Form(name: form, isChosen: isChosen, canOpen: obstacle == nil, opener: opener))
            if isChosen, let obstacle { problems.append(obstacle) }
        }
        airmailHandler = handler(AirmailLink.scheme)
        isInstalled =
            airmailHandler.flatMap { Self.files.application(withID: $0) }
            .map(OwnProgram.opens) ?? false
        if !isInstalled {
            problems.append(
                "airmail: links are opened by \(airmailHandler ?? "no application"); to open them with "
                    + "this program: \(ProgramName.text) install")
        }
    }

    /// What opens a scheme, and why it cannot.
    private static func application(
        forScheme scheme: String, _ handler: (String) -> String?
    ) -> (opener: String?, obstacle: String?) {
        guard let application = handler(scheme).flatMap({ files.application(withID: $0) }) else {
            return (nil, message(.noHandler(scheme: scheme)))
        }
        let opener = application.name.map { "\($0) (\(application.id))" } ?? application.id
        guard OwnProgram.opens(application) else { return (opener, nil) }
        return (opener, message(.loop(scheme: scheme)))
    }

    private static func message(_ failure: LinkError.Failure) -> String { LinkError.openFailed(failure).description }

    private static func command(_ settings: DeviceSettings) -> (opener: String?, obstacle: String?) {
        guard let words = settings.command else { return (nil, message(.noCommand)) }
        let opener = ShownCommand.text(words)
        do throws(CommandTemplate.Flaw) {
            let program = try CommandTemplate(words).arguments[0]
            guard OwnProgram.isExecutable(program) else {
                return (opener, "the command \(program) is not on this machine")
            }
            guard !OwnProgram.isSame(program) else { return (opener, message(.commandLoop)) }
            return (opener, nil)
        } catch {
            return (opener, error.description)
        }
    }

    var lines: [String] {
        var table = TextTable(columns: [.init(""), .init(""), .init("")])
        for (index, form) in forms.enumerated() {
            let opener = form.opener ?? (form.name == .custom ? "no command is set" : "no application")
            table.append([
                form.isChosen ? "*" : "", "\(index + 1) \(form.name.rawValue)",
                opener + (form.opener != nil && !form.canOpen ? " (cannot open it)" : ""),
            ])
        }
        let origin =
            switch origin {
            case .device: "chosen for this machine"
            case .synced: "chosen for all machines"
            case .standard: "the default"
            }
        return ["airmail: links are opened as \(form.rawValue), \(origin)", ""] + table.lines()
    }
}

extension LinkReport {
    static func onThisMachine(handler: (String) -> String?) throws -> LinkReport {
        let settings = try DeviceSettings.read()
        let chosen = try ChosenForm(settings, preferences: SyncedPreferences())
        return LinkReport(chosen, settings, handler: handler)
    }
}
