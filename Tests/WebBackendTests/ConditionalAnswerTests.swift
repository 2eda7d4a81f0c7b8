import TestSupport
import Testing
import WebTransport

@testable import WebBackend

@Suite("Answers that need not be sent again") struct ConditionalAnswerTests {
    private let request = WebRequest(.get, "https://api.example.com/albums")

    private func response(_ text: String, _ headers: WebHeaders) -> WebResponse {
        WebResponse(status: 200, headers: headers, body: Array(text.utf8))
    }

    @Test("What has not changed is the answer that was asked with, whatever comes for another request meanwhile") func askedWith() {
        let kept = ConditionalAnswers()
        _ = kept.answer(response("new", ["ETag": "2"]), to: request)
        let (asked, known) = kept.conditional(request)
        expect(asked.headers["If-None-Match"], equals: "2")
        // It was sent before, and comes late.
        _ = kept.answer(response("old", ["ETag": "1"]), to: request)
        let answer = kept.answer(WebResponse(status: 304, body: []), to: request, kept: known)
        expect(answer.body, equals: Array("new".utf8))
    }

    @Test("A date says nothing of changes within its own second") func dates() {
        let kept = ConditionalAnswers()
        let (now, later) = ("Sun, 22 Nov 2026 10:00:00 GMT", "Sun, 22 Nov 2026 10:00:05 GMT")
        _ = kept.answer(response("a", ["Last-Modified": now, "Date": now]), to: request)
        #expect(kept.conditional(request).request.headers["If-Modified-Since"] == nil)
        _ = kept.answer(response("a", ["Last-Modified": now, "Date": later]), to: request)
        expect(kept.conditional(request).request.headers["If-Modified-Since"], equals: now)
    }
}
