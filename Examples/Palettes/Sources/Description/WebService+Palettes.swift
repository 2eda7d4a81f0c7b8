public import Foundation
public import WebBackend

extension WebService {
    /// COLOURlovers' API as a description: pages of palettes in the order of the ranks, and palettes by identifier.
    ///
    /// It says what ``RemoteIncrementalStore`` programs, for the same model.
    ///
    /// - Parameter address: The base URL of the service.
    public static func palettes(at address: URL) -> WebService {
        let style = ServiceStyle(
            // There is one order, that of the ranks, and no filter.
            sorting: .given, paging: .offsets("resultOffset", size: "numResults", of: 100), saving: nil)
        return WebService(
            address.absoluteString, style: style, query: ["format": "json", "showPaletteWidths": "1"],
            resources: [
                WebResource(
                    "Palette", identifier: .string,
                    properties: ["id": .at("id", .text), "name": "title", "username": "userName", "widths": "colorWidths"],
                    calls: [.list("api/palettes/top", name: "top", sorting: ["rank"]), .one("api/palette/{SELF}", name: "palette")])
            ])
    }
}
