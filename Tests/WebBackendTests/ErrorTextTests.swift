import Foundation
import JSONReading
@_spi(Stores) import ObjectGraph
import RemoteStore
import Testing
import WebTransport

@testable import WebBackend

@Suite("What errors say") struct ErrorTextTests {
    @Test("Every error that a program may get says in words what has happened")
    func texts() throws {
        let cause = TransportError(.lost, request: "GET /albums")
        let errors: [any Error] = [
            JSONError("A comma is missing.", offset: 3, line: 1, column: 4), UnknownOutcome(cause), ExpiredChangeToken(),
            UnreadableResource("Album", id: 7, reason: cause), WebServiceError(status: 403, message: "private", request: "GET /albums/7"),
            TransportError(.lost, request: "GET /albums"), UnreadObjects([:]), UnreadAnswer(cause),
            PartRefusal(of: BackendChange(.update, "Album", id: 7, ["title": "x"]), in: "Chart", because: cause),
        ]
        for error in errors {
            // As a program sees it that only knows that it is an error.
            let text = (error as NSError).localizedDescription
            #expect(!text.contains("could not be completed") && !text.contains("couldn’t be completed"), "\(type(of: error)): \(text)")
            #expect(text.last.map { ".)".contains($0) || $0.isLetter } ?? false, "\(type(of: error)): \(text)")
        }
    }
}
