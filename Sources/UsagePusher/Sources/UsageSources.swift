/// The tools that are read.
///
/// ```swift
/// for source in UsageSources.all { print(source.providerID, source.toolName) }
/// ```
public enum UsageSources {
    /// In the order in which they are shown.
    public static var all: [any UsageSource] {
        [
            ClaudeSource(),
            CodexSource(),
            JetBrainsSource(),
            GeminiSource(),
            QwenSource(),
            KimiSource(),
            GrokSource(),
            AmpSource(),
            DroidSource(),
            ClineSource(),
            RooCodeSource(),
            KiloSource(),
            CodebuffSource(),
            KiroSource(),
            OpenCodeSource(),
            OpenCodeGoSource(),
            CopilotSource(),
            WindsurfSource(),
            CursorSource(),
            GooseSource(),
            ZedSource(),
            PluginsSource(),
        ]
    }

    /// The environment variables that say where the tools' files are, sorted.
    package static var variables: [String] { Set(all.flatMap(\.variables)).sorted() }

    /// The tools that can have several homes.
    package static var withHomes: [any UsageSource] { all.filter { !$0.homeMarks.isEmpty } }
}
