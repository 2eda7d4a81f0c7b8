extension SampleService {
    /// The bands the service knows, with their albums and tracks, by ascending identifier. They are the same in every service and
    /// never change, so a test can compare what it fetched with them.
    public static var bands: [SampleBand] {
        BandCatalog.shared.bands
    }
}
