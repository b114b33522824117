// CLTune on cltune's classic matrix multiplication: how long given configurations take, verification
// included.
//
//   cltune_peer KERNEL.cl REFERENCE.cl SIZE CONFIGURATIONS PLATFORM
//
// CONFIGURATIONS is a file with a configuration in each line: `NAME=VALUE NAME=VALUE …`. CLTune takes no
// list of configurations, so each is a kernel of its own, whose parameters have one value each: like this
// it need not enumerate the whole space, which takes it longer than a few configurations do. PLATFORM is a
// part of an OpenCL platform's name. Prints one JSON object at the end.
#include <cltune.h>

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using Configuration = std::vector<std::pair<std::string, size_t>>;

std::vector<Configuration> ReadConfigurations(const char *path) {
  std::vector<Configuration> configurations;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    Configuration configuration;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      const auto sign = word.find('=');
      configuration.emplace_back(word.substr(0, sign), std::stoul(word.substr(sign + 1)));
    }
    configurations.push_back(configuration);
  }
  return configurations;
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), ::tolower);
  return text;
}

// The position of the platform, as CLTune counts.
size_t FindPlatform(const std::string &part) {
  cl_uint count = 0;
  clGetPlatformIDs(0, nullptr, &count);
  std::vector<cl_platform_id> platforms(count);
  clGetPlatformIDs(count, platforms.data(), nullptr);
  for (size_t i = 0; i < platforms.size(); ++i) {
    char name[256] = "";
    clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof(name), name, nullptr);
    if (Lower(name).find(Lower(part)) != std::string::npos) {
      return i;
    }
  }
  std::fprintf(stderr, "no platform has `%s` in its name\n", part.c_str());
  std::exit(1);
}

// Small whole numbers: then all sums are exact, and CLTune's bound, which is for the sum of all differences
// and the same for all sizes, accepts what is right.
std::vector<float> Matrix(size_t elements, std::mt19937 &random) {
  std::uniform_int_distribution<int> draw(-2, 2);
  std::vector<float> matrix(elements);
  std::generate(matrix.begin(), matrix.end(), [&] { return static_cast<float>(draw(random)); });
  return matrix;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 6) {
    std::fprintf(stderr, "usage: cltune_peer KERNEL.cl REFERENCE.cl SIZE CONFIGURATIONS PLATFORM\n");
    return 2;
  }
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<std::string> kernel{argv[1]}, reference{argv[2]};
  const size_t size = std::stoul(argv[3]);
  const auto configurations = ReadConfigurations(argv[4]);

  cltune::Tuner tuner(FindPlatform(argv[5]), 0);
  for (const auto &configuration : configurations) {
    const auto id = tuner.AddKernel(kernel, "gemm_classic", {size, size}, {1, 1});
    for (const auto &parameter : configuration) {
      tuner.AddParameter(id, parameter.first, {parameter.second});
    }
    tuner.DivGlobalSize(id, {"MWG", "NWG"});
    tuner.MulGlobalSize(id, {"MDIMC", "NDIMC"});
    tuner.MulLocalSize(id, {"MDIMC", "NDIMC"});
  }
  tuner.SetReference(reference, "gemm_reference", {size, size}, {8, 8});
  std::mt19937 random(1);
  const auto side = static_cast<int>(size);
  for (int i = 0; i < 3; ++i) {
    tuner.AddArgumentScalar(side);
  }
  tuner.AddArgumentInput(Matrix(size * size, random));
  tuner.AddArgumentInput(Matrix(size * size, random));
  tuner.AddArgumentOutput(std::vector<float>(size * size, 0.0f));
  tuner.Tune();
  const auto best_ms = tuner.PrintToScreen();

  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("\n{\"seconds\": %.3f, \"configurations\": %zu, \"best_us\": %.1f}\n", seconds.count(),
              configurations.size(), 1e3 * best_ms);
  return 0;
}
