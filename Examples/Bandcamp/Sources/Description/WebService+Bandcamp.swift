public import Foundation
internal import RemoteStore
public import WebBackend

extension WebService {
    /// Bandcamp's API, version 3, as a description: where its bands, albums and tracks are, and how it is asked for them.
    ///
    /// It says what ``BandcampBackend`` programs, for the same model.
    ///
    /// - Parameter address: The base URL of the API, such as `http://api.bandcamp.com`.
    public static func bandcamp(at address: URL) -> WebService {
        var style = ServiceStyle(omitsNil: true, dates: .secondsSince1970, saving: nil)
        // What Bandcamp does not know has the status 200, and an error in the body.
        style.errors = ErrorStyle(messages: ["error_message"], flag: "error", missing: ["unknown"])
        return WebService(
            address.absoluteString, style: style,
            resources: [
                WebResource(
                    "Band", identity: ["band_id"],
                    calls: [
                        // Names are whole, and found regardless of case.
                        WebCall(
                            "search", path: "api/band/3/search", items: "results", parameters: [several("name", text: .caseInsensitive)]),
                        WebCall("info", path: "api/band/3/info", query: ["band_id": "{SELF}"], returns: .one),
                    ]),
                WebResource(
                    "Album", identity: ["album_id"],
                    properties: [
                        "band": "band_id",
                        "tracks": PropertyMapping(path: "tracks", reference: .object(id: "track_id"), bringsWholeObjects: true),
                    ],
                    calls: [
                        WebCall(
                            "discography", path: "api/band/3/discography", items: "discography", parameters: [parent("band")],
                            properties: [
                                "album_id", "band_id", "title", "release_date", "downloadable", "url", "small_art_url", "large_art_url",
                                "band",
                            ], cost: .init(expectedRows: 20)),
                        WebCall("info", path: "api/album/2/info", query: ["album_id": "{SELF}"], returns: .one),
                    ]),
                WebResource(
                    "Track", identity: ["track_id"], properties: ["album": "album_id"],
                    calls: [
                        WebCall(
                            "album", path: "api/album/2/info", items: "tracks", parameters: [parent("album")], cost: .init(expectedRows: 20)
                        ),
                        // Several come as an object with a member for each.
                        WebCall("info", path: "api/track/3/info", returns: .map, parameters: [several("SELF", "track_id")]),
                    ]),
            ])
    }

    /// A parameter that takes several values, separated by commas.
    private static func several(_ keyPaths: String..., text: TextComparison = .exact) -> WebParameter {
        WebParameter(
            keyPaths: keyPaths, templates: [.isIn: "\(keyPaths.last ?? "")={values}"], isRequired: true, maximumValues: 25, text: text)
    }

    /// The parameter with the number of the parent whose list is asked for.
    private static func parent(_ name: String) -> WebParameter {
        WebParameter(name, "\(name)_id", "\(name).\(name)_id", templates: [.equal: "\(name)_id={value}"], isRequired: true)
    }
}
