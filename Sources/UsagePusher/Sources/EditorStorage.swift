/// Where the editors of the VS Code family keep the files of their extensions; docs/log-shapes.md lists them.
enum EditorStorage {
    private static let desktops = [
        "Code", "Code - Insiders", "Code - OSS", "VSCodium", "VSCodium - Insiders", "Cursor", "Windsurf",
    ]
    private static let servers = [
        ".vscode-server", ".vscode-server-insiders", ".vscode-server-oss", ".vscodium-server",
        ".cursor-server", ".windsurf-server",
    ]

    /// The storage of an extension in every editor, present or not.
    static func directories(of id: String, in environment: SourceEnvironment) -> [String] {
        let desktops = desktops.flatMap { name in
            environment.applicationData.map { $0 + "/" + name }
        }
        let servers = servers.map { environment.home + "/" + $0 + "/data" }
        let codeServer = environment.dataHome + "/code-server"
        return (desktops + servers + [codeServer]).map { $0 + "/User/globalStorage/" + id }
    }
}
