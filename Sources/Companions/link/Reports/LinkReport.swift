import Commands
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
    init(handler: (String) -> String?) throws {
        let settings = try DeviceSettings.read()
        let chosen = try ChosenForm(settings, preferences: SyncedPreferences())
        form = chosen.form
        origin = chosen.origin
        forms = []
        problems = []
        for form in LinkForm.allCases {
            let (opener, obstacle) =
                form.scheme.map { Self.application(forScheme: $0, handler) } ?? Self.command(settings)
            let isChosen = form == chosen.form
            forms.append(Form(name: form, isChosen: isChosen, canOpen: obstacle == nil, opener: opener))
            if isChosen, let obstacle { problems.append(obstacle) }
        }
        airmailHandler = handler(AirmailLink.scheme)
        isInstalled = airmailHandler.flatMap(Self.files.application(withID:)).map(OwnProgram.opens) ?? false
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
            return (nil, LinkError.Failure.noHandler(scheme: scheme).message)
        }
        let opener = application.name.map { "\($0) (\(application.id))" } ?? application.id
        guard OwnProgram.opens(application) else { return (opener, nil) }
        return (opener, LinkError.Failure.loop(scheme: scheme).message)
    }

    private static func command(_ settings: DeviceSettings) -> (opener: String?, obstacle: String?) {
        guard let words = settings.command else { return (nil, LinkError.Failure.noCommand.message) }
        let opener = ShownCommand.text(words)
        do throws(CommandTemplate.Flaw) {
            let program = try CommandTemplate(words).arguments[0]
            guard OwnProgram.isExecutable(program) else {
                return (opener, "the command \(program) is not on this machine")
            }
            return (opener, OwnProgram.isSame(program) ? LinkError.Failure.commandLoop.message : nil)
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
