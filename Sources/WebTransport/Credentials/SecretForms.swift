internal import Foundation

/// The forms that a secret may have in a service's answer.
enum SecretForms {
    /// Returns a secret unchanged, and in the encodings of addresses, forms, JSON, HTML and Base64.
    static func all(of secret: String) -> [String] {
        let encoded = FormEncoding.encode(secret)
        let query = secret.addingPercentEncoding(withAllowedCharacters: .urlQueryAllowed) ?? ""
        let path = secret.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? ""
        var forms = [secret]
        forms += [encoded, encoded.replacing("%20", with: "+"), query, path]
        let json = secret.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        for form in [json, escaped(json) { $0 >= 0x80 }, escaped(json) { $0 >= 0x80 || "<>&'".utf16.contains($0) }, escaped(json, "<>&'")] {
            forms += [form, form.replacing("/", with: "\\/"), withCapitalDigits(form)]
        }
        let html = secret.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;").replacing(
            "\"", with: "&quot;")
        forms += [html, html.replacing("'", with: "&#39;"), html.replacing("'", with: "&#x27;"), html.replacing("\"", with: "&#34;")]
        return forms + base64(secret)
    }

    /// Returns the secret in Base64: alone, and as a part of a longer encoded text, at each of the three alignments.
    private static func base64(_ secret: String) -> [String] {
        let bytes = Array(secret.utf8)
        var forms = [Data(bytes).base64EncodedString()]
        for before in 0..<3 {
            let text = Data(Array(repeating: 0, count: before) + bytes).base64EncodedString()
            // Characters that also depend on the surrounding bytes are left out.
            let core = text.dropFirst((before * 8 + 5) / 6).prefix(((before + bytes.count) * 8) / 6 - (before * 8 + 5) / 6)
            if core.count >= 8 { forms.append(String(core)) }
        }
        return forms.flatMap { [$0, $0.replacing("+", with: "-").replacing("/", with: "_")] }
    }

    private static func escaped(_ text: String, _ characters: String) -> String {
        let units = Array(characters.utf16)
        return escaped(text) { units.contains($0) }
    }

    /// Returns a text in JSON's encoding, with some characters as numeric escapes.
    private static func escaped(_ text: String, _ isEscaped: (UInt16) -> Bool) -> String {
        guard text.utf16.contains(where: isEscaped) else { return text }
        var units: [UInt16] = []
        for unit in text.utf16 {
            guard isEscaped(unit) else {
                units.append(unit)
                continue
            }
            let digits = String(unit, radix: 16)
            units += Array(("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf16)
        }
        return String(decoding: units, as: UTF16.self)
    }

    /// Returns a text with the digits `a` to `f` of percent-encoding in upper case.
    static func withCapitalEscapes(_ text: String) -> String { changingDigits(of: text, after: "%", count: 2) { $0.uppercased() } }

    /// Returns JSON with the digits `A` to `F` of numeric escapes in upper case.
    private static func withCapitalDigits(_ text: String) -> String {
        changingDigits(of: text, after: "\\u", count: 4) { $0.uppercased() }
    }

    private static func changingDigits(of text: String, after mark: String, count: Int, _ change: (Substring) -> String) -> String {
        guard text.contains(mark) else { return text }
        let parts = text.components(separatedBy: mark)
        return parts[0] + parts.dropFirst().map { mark + change($0.prefix(count)) + $0.dropFirst(count) }.joined()
    }
}
