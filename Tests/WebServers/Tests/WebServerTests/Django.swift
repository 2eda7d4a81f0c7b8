import CoreData
import Foundation
import RemoteStore
import Testing
import WebBackend
import WebTransport

/// The services of a Django server, each space a database of its own.
enum Django: String, CaseIterable, CustomTestStringConvertible {
    case plain
    case jsonapi

    var testDescription: String { self == .plain ? "as it is" : "JSON:API" }

    /// A store over a space of its own, or one that is there.
    func music(at address: String? = nil) throws -> WebStore {
        let space = "s" + UUID().uuidString.replacingOccurrences(of: "-", with: "").lowercased()
        let address = try address ?? "\(PythonServer.django.get().address)/\(space)/\(rawValue)"
        return try WebStore(self == .plain ? Self.plainService(address) : Self.apiService(address), Music.model())
    }

    /// What albums are filtered by.
    private static let filters = ["SELF", "year", "rating", "price", "isLive", "recordedAt", "band", "title"]

    private static func plainService(_ address: String) -> WebService {
        var style = ServiceStyle.djangoREST
        // The views have all filters that the calls name, with all lookups; those of SQLite find text regardless of case.
        style.filters.inexact = [.contains, .beginsWith, .endsWith]
        style.paging.sizeParameter = "page_size"
        // SQLite has strings in the order of their code points, and nothing before everything.
        let one = WebCall.one("{path}{SELF}/")
        return WebService(
            address, style: style,
            resources: [
                WebResource("Band", calls: [.list(filters: ["SELF", "name", "founded"], sorting: ["name", "founded"]), one]),
                WebResource(
                    "Album", properties: ["labels": "labels"],
                    calls: [
                        .list(filters: filters + ["labels"], sorting: ["title", "year", "rating", "price", "recordedAt"]), one,
                    ]),
                WebResource("Label", calls: [.list(filters: ["SELF", "name"], sorting: ["name"]), one]),
            ])
    }

    private static func apiService(_ address: String) -> WebService {
        var style = ServiceStyle.jsonAPI
        style.filters.templates = [
            .equal: "filter[{name}]={value}", .lessThan: "filter[{name}.lt]={value}", .lessThanOrEqual: "filter[{name}.lte]={value}",
            .greaterThan: "filter[{name}.gt]={value}", .greaterThanOrEqual: "filter[{name}.gte]={value}",
            .isIn: "filter[{name}.in]={values}", .contains: "filter[{name}.contains]={value}", .isNil: "filter[{name}.isnull]=true",
            .isNotNil: "filter[{name}.isnull]=false",
        ]
        style.filters.inexact = [.contains]
        style.filters.identifier = "id"
        return WebService(
            address, style: style,
            resources: [
                WebResource(
                    "Band",
                    calls: [
                        WebCall(
                            "list", path: "{path}", filters: ["SELF", "name", "founded"], sorting: ["name", "founded"],
                            includes: ["albums"]), .one,
                    ]),
                WebResource(
                    "Album",
                    calls: [
                        WebCall(
                            "list", path: "{path}", filters: filters + ["labels"],
                            sorting: ["title", "year", "rating", "price", "recordedAt"], includes: ["band", "labels"]), .one,
                    ]),
                // The service has no list of a label's albums.
                WebResource("Label", ignored: ["albums"], calls: [.list(filters: ["SELF", "name"], sorting: ["name"]), .one]),
            ])
    }
}
