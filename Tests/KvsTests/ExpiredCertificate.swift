/// A self-signed certificate for the first day of 2020 and its key, which is for nothing else.
enum ExpiredCertificate {
    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBEDCBt6ADAgECAgEBMAoGCCqGSM49BAMCMBIxEDAOBgNVBAMMB2V4cGlyZWQw
        HhcNMjAwMTAxMDAwMDAwWhcNMjAwMTAyMDAwMDAwWjASMRAwDgYDVQQDDAdleHBp
        cmVkMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE2LDSiO/go2MQPMWRi53EY0lC
        yXlq5UO6FtoyrtToq69jCNiWbXGUAigv8SPaYeF/DpNkM256d1aqHaBNoLklLTAK
        BggqhkjOPQQDAgNIADBFAiBhGs8hvmOQbQVYTkFBFfoWrScX1lkW9RV9kHiXmzGu
        3wIhAM+YQgw1wWFESBs2Dr7mZzbqMUTRV6sAR57bDrMhhibs
        -----END CERTIFICATE-----

        """

    static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgVJFHWReWnd7tB9/1
        JG3keNMsicoTesfbuWbcMVr6dPuhRANCAATYsNKI7+CjYxA8xZGLncRjSULJeWrl
        Q7oW2jKu1Oirr2MI2JZtcZQCKC/xI9ph4X8Ok2Qzbnp3VqodoE2guSUt
        -----END PRIVATE KEY-----

        """
}
